"""The judge believes tensors only: how a verdict comes about."""

import time

import pytest
import torch

from autograder.grading import judging, naming, questioning
from autograder.grading.judging import prepared
from autograder.oracle import answers
from autograder.solutions import attention
from autograder.student import references
from autograder.student.compare import compare
from autograder.student.panel import as_text
from autograder.student.words import NOT_SOLVED
from tests.grading.box_and_judge import NAME, judged


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


def test_nothing_is_drawn_for_a_stub(box, monkeypatch):
    def stub(q, k):
        raise NotImplementedError

    monkeypatch.setattr(judging, "fresh_cases", None)
    verdict = judged(box(lambda: stub))
    assert verdict.note.startswith(NOT_SOLVED) and verdict.points == 0


def test_what_the_box_is_asked_differs_by_submission():
    def drawing(seed):
        cases = prepared(NAME, seed, 5.0).cases
        return next(case.inputs["q"] for case in cases if case.hidden)

    assert not drawing("one").equal(drawing("two"))


def test_a_mistake_is_named(box):
    def swapped(q, k):
        return k @ q.transpose(-2, -1)

    verdict = judged(box(lambda: swapped))
    assert verdict.points < verdict.max_points and verdict.mistake


@pytest.mark.parametrize(
    ("answer", "most"),
    [
        (attention.dot_product_scores, 0),  # right
        (lambda q, k: k @ q.transpose(-2, -1), 3),  # one of the named mistakes
        (lambda q, k: q.no_such_method(), 0),  # an error that no mistake makes
    ],
)
def test_only_likely_mistakes_are_computed(box, monkeypatch, answer, most):
    computed = []
    given = answers.mistaken_answers
    monkeypatch.setattr(
        answers,
        "mistaken_answers",
        lambda task, objects, inputs: (
            computed.append(len(objects)) or given(task, objects, inputs)
        ),
    )
    judged(box(lambda: answer))
    assert (
        max(computed, default=0)
        <= most
        < len(references.load("attention")[NAME].mistakes)
    )


def test_who_fails_hidden_cases_only_is_compared_with_mistakes_of_that_kind(
    box, monkeypatch
):
    compared = []
    monkeypatch.setattr(
        answers,
        "mistaken_objects",
        lambda task, names: compared.append(set(names)) or {},
    )
    cases = references.load("attention")[NAME].cases
    seen = {
        tuple(value.flatten().tolist())
        for case in cases
        for name, value in case.inputs.items()
        if name.endswith("q")
    }

    def learnt_by_heart(q, k):
        scores = attention.dot_product_scores(q, k)
        return scores if tuple(q.flatten().tolist()) in seen else scores + 1

    verdict = judged(box(lambda: learnt_by_heart))
    assert verdict.points < verdict.max_points
    wrong_in_visible_ones = {
        name
        for case in cases
        for name, given in case.mistakes.items()
        if not case.says and not compare(case, given).passed
    }
    assert wrong_in_visible_ones and not compared[-1] & wrong_in_visible_ones


def test_a_mistake_that_takes_too_long_to_find_is_not_named(box, monkeypatch):
    def endless(task, objects, inputs):
        while True:
            time.process_time()

    monkeypatch.setattr(naming, "NAMING_SECONDS", 0.2)
    monkeypatch.setattr(answers, "mistaken_answers", endless)
    verdict = judged(box(lambda: lambda q, k: k @ q.transpose(-2, -1)))
    assert 0 <= verdict.points < verdict.max_points


def test_an_undefined_name_is_reported(box):
    verdict = judged(box(lambda: undefined_name))  # noqa: F821
    assert verdict.points == 0 and "`undefined_name` is not defined" in as_text(verdict)
