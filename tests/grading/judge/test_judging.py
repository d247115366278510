"""The judge believes tensors only: how a verdict comes about."""

from dataclasses import replace
from types import SimpleNamespace

import pytest
import torch

from autograder.checks import references
from autograder.checks.exercise import Case, CheckResult, Mistake
from autograder.checks.panel import as_text
from autograder.grading.judge import judging, preparing, questioning
from tests.grading.sandbox_and_judge import NAME, judged
from transformer_course.solutions import attention


def test_all_answers_together_have_a_size_that_is_counted(sandbox, monkeypatch):
    monkeypatch.setattr(questioning, "MOST_ANSWERED", 10_000)
    channel = sandbox(lambda: lambda x: torch.zeros(20, 20))  # 1600 bytes
    findings = [f for r in judged(channel).results for f in r.findings]
    assert "no readable answer" not in findings[0].message
    assert any(questioning.NO_ANSWER in f.message for f in findings[1:])


def test_a_solution_is_asked_fresh_cases_too_and_is_worth_all_points(sandbox):
    verdict = judged(sandbox(lambda: attention.stable_softmax))
    assert verdict.passed and verdict.points == verdict.max_points
    visible = len(references.load("attention")[NAME].cases)
    hidden = [r.case for r in verdict.results if r.case.hidden]
    assert len(verdict.results) > len(hidden) >= visible
    stored = references.load("attention", "hidden")[NAME].cases
    stored_inputs = [case.inputs["x"] for case in stored if "x" in case.inputs]
    fresh_inputs = [case.inputs["x"] for case in hidden if "x" in case.inputs]
    assert fresh_inputs
    assert not any(x.equal(y) for x in fresh_inputs for y in stored_inputs)


@pytest.fixture
def with_small(monkeypatch):
    """The exercise with two small cases, in both of which a row is halved."""
    exercise = references.load("attention")[NAME]
    call = exercise.cases[0].inputs["call"]
    small = [
        Case(f"small {n}", "", "", {"call": call, "x": x}, {"weights": x.softmax(-1)})
        for n, x in enumerate((torch.zeros(1, 1), torch.zeros(1, 2)), start=1)
    ]
    changed = {NAME: replace(exercise, small=tuple(small))}
    monkeypatch.setattr(preparing, "_visible", lambda unit: changed)


def test_a_wrong_answer_is_tried_on_small_inputs_that_are_public(sandbox, with_small):
    verdict = judged(sandbox(lambda: lambda x: x.softmax(-1) / 2))
    assert verdict.smallest.case.name == "small 1" and not verdict.smallest.case.hidden
    assert "yours     0.5" in as_text(verdict)
    assert judged(sandbox(lambda: attention.stable_softmax)).smallest is None


def test_a_sandbox_that_is_lost_over_small_inputs_loses_nothing_else(
    sandbox, with_small, monkeypatch
):
    before = judged(sandbox(lambda: lambda x: x.softmax(-1) / 2))
    monkeypatch.setattr(judging, "BRIEFLY", "a question that nobody answers")
    verdict = judged(sandbox(lambda: lambda x: x.softmax(-1) / 2), seconds=1.0)
    assert verdict.smallest is None and verdict.points == before.points
    assert verdict.mistake == before.mistake


def test_a_mistake_is_named_though_small_inputs_took_too_long(monkeypatch):
    unnamed = CheckResult(NAME, "", 0.0, 10.0)
    client = SimpleNamespace(late=Mistake("late", "", ""), heard=True)
    monkeypatch.setattr(judging, "decide", lambda check, sandbox: unnamed)
    named = replace(unnamed, mistake=Mistake("halved", "", ""), sure=True)
    monkeypatch.setattr(judging, "name_mistake", lambda *_: named)
    check, names = preparing.prepare_check(NAME, "abc"), {"exercise": NAME}
    verdicts = judging._verdicts(check, client, {**names, "submission": "me"}, False)
    assert [final.verdict.mistake for final, _ in verdicts] == ["", "halved"]


def test_nothing_is_drawn_for_a_stub(sandbox, monkeypatch):
    def stub(x):
        raise NotImplementedError

    preparing._fresh.cache_clear()
    monkeypatch.setattr(preparing, "fresh_cases", None)
    verdict = judged(sandbox(lambda: stub))
    assert verdict.unsolved and verdict.points == 0


def test_an_undefined_name_is_reported(sandbox):
    verdict = judged(sandbox(lambda: undefined_name))  # noqa: F821
    assert verdict.points == 0 and "`undefined_name` is not defined" in as_text(verdict)


def test_a_check_that_cannot_be_prepared_is_left_to_a_person_with_the_reason():
    names = {"exercise": NAME, "submission": "me"}
    fault, silent = KeyError("heads"), SimpleNamespace(release=lambda: None)
    ((final, further),) = judging._verdicts(fault, silent, names, draws=True)
    assert final.verdict.decided == "person" and not further
    assert final.verdict.fault.endswith(": KeyError: 'heads'")
    assert "heads" not in final.html + final.verdict.note
