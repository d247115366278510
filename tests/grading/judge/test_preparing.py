"""What is drawn for one submission, and what for several."""

import functools

import pytest
import torch

from autograder.checks import references
from autograder.grading.judge import preparing
from autograder.grading.judge.preparing import prepare_check
from tests.grading.sandbox_and_judge import NAME

CLINIC = "positional_encoding/bug_clinic"
GREEDY = "sequence_reversal/greedy_decode"
MEASURED = "text_recovery/model"


def test_visible_cases_are_read_before_the_first_check_where_they_are_expected(
    monkeypatch,
):
    read = []
    load = functools.cache(lambda unit: read.append(unit) or references.load(unit))
    monkeypatch.setattr(preparing, "_visible", load)
    preparing.preload("no_such_unit")  # who asks for one of its exercises is told
    preparing.preload("attention")
    assert read == ["attention"]
    prepare_check(NAME, "seed")
    assert read == ["attention"]


def fresh(name, *seeds):
    """A tensor of a fresh case."""
    seed, *shared = seeds
    case = prepare_check(name, seed, *shared).fresh[0]
    return next(v for v in case.inputs.values() if isinstance(v, torch.Tensor))


def test_what_is_computed_is_drawn_for_several_submissions():
    assert not fresh(NAME, "one").equal(fresh(NAME, "two"))
    assert fresh(NAME, "one", "shared").equal(fresh(NAME, "two", "shared"))
    assert not fresh(NAME, "one", "shared").equal(fresh(NAME, "one", "another"))


MASKS, WORDS, NUMBER = (
    "attention/masks", "text_recovery/segment", "text_recovery/bleu"
)  # fmt: skip


@pytest.mark.parametrize("name", [CLINIC, GREEDY, MEASURED, MASKS, WORDS, NUMBER])
def test_what_is_played_measured_or_filled_in_is_drawn_for_each_submission(name):
    first, two = (prepare_check(name, seed, "shared") for seed in ("one", "two"))
    assert first.fresh is not two.fresh
    again = prepare_check(name, "one", "another")  # as a second try is
    assert first.fresh and first.fresh is again.fresh


def test_a_case_is_put_together_once_where_the_judge_plays_nothing():
    first, two = (prepare_check(NAME, seed, "shared") for seed in ("one", "two"))
    for case in first.cases:
        assert first.pack_inputs(case) is two.pack_inputs(case) is not None
    clinic = prepare_check(CLINIC, "one", "shared")
    assert {clinic.pack_inputs(case) for case in clinic.cases} == {None}


def test_the_order_in_which_things_are_tried_is_drawn_for_each_submission():
    checks = [prepare_check(CLINIC, seed, "shared") for seed in "abcd"]
    assert len({tuple(check.side(check.cases[0]).names) for check in checks}) > 1


def test_each_case_of_a_clinic_comes_in_two_drawings():
    check = prepare_check(CLINIC, "one")
    drawings = {}
    for case in check.cases:
        drawings.setdefault(case.name, []).append(case)
    assert {len(cases) for cases in drawings.values()} == {2}
    both_hidden = [cases for cases in drawings.values() if all(c.hidden for c in cases)]
    assert both_hidden
    orders = [[check.side(case).names for case in cases] for cases in both_hidden]
    assert any(first != second for first, second in orders)
