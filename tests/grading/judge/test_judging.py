"""The judge believes tensors only: how a verdict comes about."""

import functools

import pytest
import torch

from autograder.grading.judge import judging, questioning
from autograder.grading.judge.judging import prepared
from autograder.solutions import attention
from autograder.student import references
from autograder.student.panel import as_text
from autograder.student.words import NOT_SOLVED
from tests.grading.box_and_judge import NAME, judged

CLINIC = "positional_encoding/bug_clinic"
GREEDY = "sequence_reversal/greedy_decode"
MEASURED = "text_recovery/model"


def test_all_answers_together_have_a_size_that_is_counted(box, monkeypatch):
    monkeypatch.setattr(questioning, "MOST_ANSWERED", 10_000)
    channel = box(lambda: lambda q, k: torch.zeros(40, 40))  # 6400 bytes
    findings = [f for r in judged(channel).results for f in r.findings]
    assert "no readable answer" not in findings[0].message
    assert any(questioning.NO_ANSWER in f.message for f in findings[1:])


def test_the_solution_is_worth_all_points(box):
    verdict = judged(box(lambda: attention.dot_product_scores))
    assert verdict.passed and verdict.points == verdict.max_points


def test_fresh_cases_are_asked_beside_the_visible_ones(box):
    verdict = judged(box(lambda: attention.dot_product_scores))
    visible = len(references.load("attention")[NAME].cases)
    hidden = [r.case for r in verdict.results if r.case.hidden]
    assert len(verdict.results) > len(hidden) >= visible
    stored = references.load("attention", "hidden")[NAME].cases
    assert not any(
        case.inputs[key].shape == other.inputs[key].shape
        and case.inputs[key].equal(other.inputs[key])
        for case in hidden
        for other in stored
        for key in ("q", "k")
        if key in case.inputs and key in other.inputs
    )


def test_visible_cases_are_read_before_the_first_check_where_they_are_expected(
    monkeypatch,
):
    read = []
    load = functools.cache(lambda unit: read.append(unit) or references.load(unit))
    monkeypatch.setattr(judging, "_visible", load)
    judging._expect("no_such_unit")  # who asks for one of its exercises is told
    judging._expect("attention")
    assert read == ["attention"]
    prepared(NAME, "seed")
    assert read == ["attention"]


def test_nothing_is_drawn_for_a_stub(box, monkeypatch):
    def stub(q, k):
        raise NotImplementedError

    judging._fresh.cache_clear()
    monkeypatch.setattr(judging, "fresh_cases", None)
    verdict = judged(box(lambda: stub))
    assert verdict.note.startswith(NOT_SOLVED) and verdict.points == 0


def fresh(name, *seeds):
    """A tensor of a fresh case."""
    own, *shared = seeds
    case = prepared(name, own, *shared).fresh[0]
    return next(v for v in case.inputs.values() if isinstance(v, torch.Tensor))


def test_what_is_computed_is_drawn_for_several_submissions():
    assert not fresh(NAME, "one").equal(fresh(NAME, "two"))
    assert fresh(NAME, "one", "shared").equal(fresh(NAME, "two", "shared"))
    assert not fresh(NAME, "one", "shared").equal(fresh(NAME, "one", "another"))


MASK, WORDS, COUNTS = (
    "attention/padding_mask", "text_recovery/normalise", "text_recovery/error_kinds"
)  # fmt: skip


@pytest.mark.parametrize("name", [CLINIC, GREEDY, MEASURED, MASK, WORDS, COUNTS])
def test_what_is_played_measured_or_filled_in_is_drawn_for_each_submission(
    name,
):
    one, two = (prepared(name, own, "shared") for own in ("one", "two"))
    assert one.fresh is not two.fresh
    assert one.fresh is prepared(name, "one", "another").fresh


def test_a_case_is_put_together_once_where_the_judge_plays_nothing():
    one, two = (prepared(NAME, own, "shared") for own in ("one", "two"))
    for case in one.cases:
        assert one.shown(case) is two.shown(case) is not None
    clinic = prepared(CLINIC, "one", "shared")
    assert {clinic.shown(case) for case in clinic.cases} == {None}


def test_the_order_in_which_things_are_tried_is_drawn_for_each_submission():
    orders = []
    for own in "abcd":
        check = prepared(CLINIC, own, "shared")
        orders.append(tuple(check.side(check.cases[0]).names))
    assert len(set(orders)) > 1


def test_a_second_try_is_asked_what_the_first_one_was():
    first, second = (prepared(NAME, "one").fresh for _ in range(2))
    assert first and first is second


def test_an_undefined_name_is_reported(box):
    verdict = judged(box(lambda: undefined_name))  # noqa: F821
    assert verdict.points == 0 and "`undefined_name` is not defined" in as_text(verdict)
