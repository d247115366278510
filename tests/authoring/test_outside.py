"""What a probe reveals of its answers is written down, and no case lies open."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
import torch

from autograder.authoring.catalogue import specification
from autograder.authoring.specification import Specification
from autograder.checks.exercise import Case
from autograder.checks.interactor import Interactor
from autograder.course import units
from tests.authoring import outside, touched

COMMAND = "make docs"
# Declared for every exercise, though they are open in some only.
GENERAL = {"property_start", "property_gradient"}
EARLY = ("attention/softmax", "attention/cross_attention")  # whatever has changed


def see(row: outside.Exposure) -> None:
    """See that nothing in a sandbox earns anything alone, as the document says."""
    assert row.open <= row.declared and row.declared - row.open <= GENERAL
    assert row.open_parts <= {(case, part) for case in row.open
                              for _, part in row.groups}  # fmt: skip
    cases = {case for case, _ in row.answers}
    assert row.played or cases - row.declared
    assert outside.line(row) in outside.DOCUMENT.read_text(encoding="utf-8"), (
        f"run {COMMAND}"
    )


TOUCHED = [name for unit in units() for name in touched.names(unit)]


@pytest.mark.parametrize("name", sorted({*EARLY, *TOUCHED}))
def test_what_a_change_touches_can_be_answered_by_solving_it_only(name):
    task = specification(name)
    see(outside.row(task, outside.draw_cases(task.unit, task)))


@pytest.mark.slow
def test_no_exercise_can_be_answered_without_solving_it():
    rows = list(outside.rows())
    for row in rows:
        see(row)
    reasons = {name for names in outside.REASONS for name in names}
    assert set().union(*(row.open for row in rows)) <= reasons
    assert outside.DOCUMENT.read_text(encoding="utf-8") == outside.document(rows)


def exercise(interactor: type[Interactor] = Interactor) -> Specification:
    return Specification(name="u/e", target="e", cases=(), interactor=interactor)


def cases(*drawings: tuple[dict, dict]) -> list[Case]:
    return [Case("c", "c", "", inputs, expected) for inputs, expected in drawings]


def test_a_probe_that_is_given_the_answer_is_found_out():
    drawings = cases(
        *(
            (
                {"x": torch.ones(2), "lines": torch.arange(3) + n},
                {"y": torch.arange(3) + n},
            )
            for n in range(3)
        )
    )
    assert outside.row(exercise(), drawings).open == {"c"}


def test_an_answer_that_everybody_knows_is_found_out():
    drawings = cases(*(({"x": torch.ones(2) * n}, {"y": "rejected"}) for n in range(3)))
    assert outside.row(exercise(), drawings).open == {"c"}


def test_a_part_that_everybody_knows_is_found_out():
    drawings = [
        replace(case, aspects={"weights": "weights"})
        for case in cases(
            *(({}, {"y": torch.ones(2) * n, "weights": "1"}) for n in range(3))
        )
    ]
    task = replace(exercise(), parts="weights")
    exposure = outside.row(task, drawings)
    assert exposure.open == set() and exposure.open_parts == {("c", "weights")}
    assert outside.row(exercise(), drawings).open_parts == set()


def test_an_answer_that_must_be_computed_is_outside():
    inputs = [torch.ones(2) * n for n in range(3)]
    drawings = cases(*(({"x": x}, {"y": x + 9, "x afterwards": x}) for x in inputs))
    exposure = outside.row(exercise(), drawings)
    assert exposure.open == set() and exposure.answers == {("c", "y")}


def test_what_the_judge_keeps_is_not_in_the_sandbox():
    class Keeps(Interactor):
        keeps = frozenset({"lines"})

    drawings = cases(({"x": "a", "lines": json.dumps([1])}, {"y": json.dumps([1])}))
    exposure = outside.row(exercise(Keeps), drawings)
    assert (exposure.given, exposure.kept, exposure.revealed) == (
        {"x"},
        {"lines"},
        set(),
    )
