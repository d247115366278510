"""What a probe reveals of its answers is written down, and no case lies open."""

from __future__ import annotations

import json

import pytest
import torch

from autograder.authoring import outside
from autograder.oracle.specification import Specification
from autograder.student.exercise import Case
from autograder.student.otherside import OtherSide

COMMAND = "python -m autograder.authoring.outside"
# Cases that somebody could answer who has solved nothing; each is one of many.
OPEN = {
    # The gradient of what only hands its input on is what pulls on it.
    "positional_encoding/module": {"property_gradient"},
    # Whatever was drawn, a good start is called one, and what is too long refused.
    "positional_encoding/learned": {
        "property_gradient",
        "start",
        "too_long",
        "too_long_for_one",
    },
    "encoder_decoder/transformer": {"two_sizes", "larger_source"},
    # Where nothing is chosen, all stays as it is.
    "encoder_decoder/masked_tokens": {"nothing_chosen"},
    "multi_head_attention/split_heads": {"property_gradient"},
    "multi_head_attention/merge_heads": {"property_gradient"},
    # What must be 0 is 0; who ends at once says EOS and nothing else.
    "text_recovery/corpus_bleu": {"nothing", "silent"},
    "text_recovery/beam_search": {"equal"},
    # What must be refused is refused in every drawing; what must be 0 is 0.
    "since_2017/grouped_attention": {"refused", "refused_again"},
    "since_2017/relative_gap": {"turned"},
}
# Good start values are called so, whichever they are.
START = {"property_start"}
MODULES = (
    "positional_encoding/input_layer",
    "positional_encoding/learned",
    "attention/self_attention",
    "attention/cross_attention",
    "multi_head_attention/list_of_heads",
    "multi_head_attention/multi_head_attention",
    "encoder_decoder/feed_forward",
    "encoder_decoder/encoder_layer",
    "encoder_decoder/encoder",
    "encoder_decoder/decoder_layer",
    "encoder_decoder/decoder",
    "encoder_decoder/transformer",
    "encoder_decoder/language_model",
    "since_2017/rms_norm",
    "since_2017/swiglu",
    "since_2017/attention_layer",
    "since_2017/block",
    "since_2017/language_model",
)


@pytest.fixture(scope="module")
def rows() -> list[outside.Exposure]:
    return list(outside.rows())


def test_no_case_can_be_answered_without_solving_it(rows):
    found = {row.name: row.open for row in rows if row.open}
    assert found == OPEN | {name: OPEN.get(name, set()) | START for name in MODULES}


def test_what_is_open_is_worth_little_and_the_document_says_why(rows):
    told = {name for names in outside.REASONS for name in names}
    assert set().union(*(row.open for row in rows)) <= told
    stakes: dict[str, float] = {}
    for row in rows:
        unit = row.name.partition("/")[0]
        stakes[unit] = stakes.get(unit, 0.0) + row.stake
        assert bool(row.stake) == bool(row.open) and row.stake <= row.points / 4
    assert max(stakes.values()) < 3.5  # of 100


def test_the_document_says_what_is_so(rows):
    written = outside.DOCUMENT.read_text(encoding="utf-8")
    assert written == outside.document(rows), f"run {COMMAND}"


def exercise(other: type[OtherSide] = OtherSide) -> Specification:
    return Specification(
        name="u/e", title="e", target="e", cases=(), mutants=(), accepted=(),
        other=other,
    )  # fmt: skip


def cases(*drawn: tuple[dict, dict]) -> list[Case]:
    return [Case("c", "c", "", inputs, expected) for inputs, expected in drawn]


def test_a_probe_that_is_given_the_answer_is_found_out():
    drawn = cases(
        *(
            (
                {"x": torch.ones(2), "lines": torch.arange(3) + n},
                {"y": torch.arange(3) + n},
            )
            for n in range(3)
        )
    )
    assert outside.row(exercise(), drawn).open == {"c"}


def test_an_answer_that_everybody_knows_is_found_out():
    drawn = cases(*(({"x": torch.ones(2) * n}, {"y": "rejected"}) for n in range(3)))
    assert outside.row(exercise(), drawn).open == {"c"}


def test_an_answer_that_must_be_computed_is_outside():
    given = [torch.ones(2) * n for n in range(3)]
    drawn = cases(*(({"x": x}, {"y": x + 9, "x afterwards": x}) for x in given))
    found = outside.row(exercise(), drawn)
    assert found.open == set() and found.answers == {("c", "y")}


def test_what_the_judge_keeps_is_not_in_the_box():
    class Keeps(OtherSide):
        keeps = frozenset({"lines"})

    drawn = cases(({"x": "a", "lines": json.dumps([1])}, {"y": json.dumps([1])}))
    found = outside.row(exercise(Keeps), drawn)
    assert (found.given, found.kept, found.revealed) == ({"x"}, {"lines"}, set())
