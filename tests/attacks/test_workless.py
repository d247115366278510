"""Answers without work earn nothing: by heart, errors, constants, and lucky guesses."""

from __future__ import annotations

import pytest
import torch

from autograder.authoring.catalogue import specification, specifications
from autograder.authoring.variants import build_object
from autograder.checks.exercise import Case
from autograder.checks.points import aspects, open_parts
from autograder.course import units
from autograder.grading.judge.preparing import PreparedCheck, prepare_check
from tests.attacks.workless import points_of, points_without_work, result_of_object

EVERY_DAY = [
    "attention/masks",
    "encoder_decoder/shifted",
    "multi_head_attention/multi_head_attention",
    "positional_encoding/shift_matrix",
    "sequence_reversal/greedy_sequence",
]
# A fresh drawing of each of these has the answer of a visible one.
REPEATED = [
    ("positional_encoding/shift_matrix", "three"),
    ("sequence_reversal/antidiagonal_share", "one"),
]
CHANCE = 0.1  # of a clinic's cases: one of four things, in two drawings, and luck


@pytest.mark.parametrize("name", EVERY_DAY)
def test_no_answer_without_work_earns_anything(name):
    assert points_without_work(name) == {}


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("unit", units(), ids=lambda unit: unit.name)
def test_no_answer_without_work_earns_anything_in_any_exercise(unit):
    earned = {
        (task.name, seed): points
        for task in specifications(unit.name)
        if not any(kind.measure for kind in task.cases)
        for seed in ("one", "two", "three")
        if (points := points_without_work(task.name, seed))
    }
    assert earned == {}


def is_full(name: str, seed: str) -> bool:
    """Whether the solution has all points, and something nobody could repeat."""
    check, task = prepare_check(name, seed), specification(name)
    parts = {(case.name, aspect) for case in check.cases for aspect in aspects(case)}
    result = result_of_object(check, build_object(task))
    return result.points == check.exercise.points and bool(
        parts - open_parts(check.cases)
    )


@pytest.mark.parametrize(("name", "seed"), REPEATED)
def test_the_solution_has_all_points_where_some_answers_ship(name, seed):
    assert any(case.shipped & {"values"} for case in prepare_check(name, seed).fresh)
    assert is_full(name, seed)


def circles(table: torch.Tensor) -> None:
    norms = table[:, 0::2] ** 2 + table[:, 1::2] ** 2
    assert torch.allclose(norms, torch.ones_like(norms), atol=1e-3)


def bounded(table: torch.Tensor) -> None:
    assert table.abs().max() < 1.001


@pytest.mark.parametrize("test", [circles, bounded])
def test_one_property_of_a_table_earns_nothing(test):
    assert points_of(prepare_check("positional_encoding/bug_clinic", "one"), test) == 0


def is_first(check: PreparedCheck, case: Case) -> bool:
    """Whether the right thing of a drawing comes first, and does not come again."""
    side = check.side(case)
    right = side.list_subjects()[0]
    return side.names.index(right) == 0 and side.names.count(right) == 1


def test_to_take_the_first_thing_for_the_right_one_earns_what_chance_gives():
    lucky = []
    for number in range(30):
        check = prepare_check("encoder_decoder/bug_clinic", str(number))
        drawings: dict[str, list[Case]] = {}
        for case in check.cases:
            drawings.setdefault(case.name, []).append(case)
        assert all(len(cases) == 2 for cases in drawings.values())
        lucky += [all(is_first(check, c) for c in cases) for cases in drawings.values()]
    assert sum(lucky) < CHANCE * len(lucky)
