"""What a probe reveals of its answers is written down, and no case lies open."""

from __future__ import annotations

import json

import pytest
import torch

from autograder.authoring import outside
from autograder.student import probes
from autograder.student.exercise import Case
from autograder.student.otherside import OtherSide

COMMAND = "python -m autograder.authoring.outside"
# The gradient of what only hands its input on is what pulls on it, or known before.
# Each of these is one case of many; the others must be computed.
HANDED_ON = {
    "positional_encoding/module", "positional_encoding/learned",
    "multi_head_attention/split_heads", "multi_head_attention/merge_heads",
}  # fmt: skip


@pytest.fixture(scope="module")
def rows() -> list[outside.Row]:
    return list(outside.rows())


def test_no_case_can_be_answered_without_solving_it(rows):
    found = {row.name: row.open for row in rows if row.open}
    assert found == {name: {"property_gradient"} for name in HANDED_ON}


def test_the_document_says_what_is_so(rows):
    written = outside.DOCUMENT.read_text(encoding="utf-8")
    assert written == outside.document(rows), f"run {COMMAND}"


@pytest.fixture
def probe(monkeypatch):
    """Registers a probe for one test."""

    def register(other=OtherSide):
        made = probes.Probe(lambda answer, inputs: {}, other)
        monkeypatch.setattr(outside, "find", lambda name: made)

    return register


def cases(*drawn: tuple[dict, dict]) -> list[Case]:
    return [Case("c", "c", "", inputs, expected) for inputs, expected in drawn]


def test_a_probe_that_is_given_the_answer_is_found_out(probe):
    probe()
    drawn = cases(*(
        ({"x": torch.ones(2), "lines": torch.arange(3) + n}, {"y": torch.arange(3) + n})
        for n in range(3)
    ))  # fmt: skip
    assert outside.row("u/e", drawn).open == {"c"}


def test_an_answer_that_everybody_knows_is_found_out(probe):
    probe()
    drawn = cases(*(({"x": torch.ones(2) * n}, {"y": "rejected"}) for n in range(3)))
    assert outside.row("u/e", drawn).open == {"c"}


def test_an_answer_that_must_be_computed_is_outside(probe):
    probe()
    drawn = cases(*(
        ({"x": torch.ones(2) * n}, {"y": torch.ones(2) * (n + 9), "x afterwards": "x"})
        for n in range(3)
    ))  # fmt: skip
    found = outside.row("u/e", drawn)
    assert found.open == set() and found.answers == {("c", "y")}


def test_what_the_judge_keeps_is_not_in_the_box(probe):
    class Keeps(OtherSide):
        keeps = frozenset({"lines"})

    probe(Keeps)
    drawn = cases(({"x": "a", "lines": json.dumps([1])}, {"y": json.dumps([1])}))
    found = outside.row("u/e", drawn)
    assert (found.given, found.kept, found.revealed) == ({"x"}, {"lines"}, set())
