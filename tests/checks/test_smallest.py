"""A wrong answer is tried on small inputs, and the first that fails is kept."""

import threading
from dataclasses import replace

import torch

from autograder.checks import smallest
from autograder.checks.compare import judge
from autograder.checks.exercise import CALLED, RAISED, STUB, Case
from autograder.checks.smallest import NO_END, add_smallest, observe_briefly
from tests.conftest import row


def with_small_cases(exercise):
    small = [
        Case(f"small {n}", "", "", {"x": x}, {"twice": 2 * x})
        for n, x in enumerate((row(0.0), row(1.0), row(1.0, -2.0)), start=1)
    ]
    return replace(exercise, small=tuple(small))


def tried(exercise, function):
    """The name of the smallest case that fails, and how many were asked."""
    asked = []

    def ask(case):
        asked.append(case.name)
        return {"twice": function(case.inputs["x"])}

    verdict = judge(exercise, exercise.cases, ask)
    asked.clear()
    result = add_smallest(verdict, exercise, ask).smallest
    return result and result.case.name, len(asked)


def test_the_smallest_that_fails_is_kept_and_no_larger_one_is_asked(doubling):
    exercise = with_small_cases(doubling)
    assert tried(exercise, lambda x: 3 * x) == ("small 2", 2)
    assert tried(exercise, lambda x: 2 * x.abs()) == ("small 3", 3)


def test_a_right_answer_is_not_tried(doubling):
    assert tried(with_small_cases(doubling), lambda x: 2 * x) == (None, 0)


def test_where_no_small_input_fails_there_is_none(doubling):
    exercise = with_small_cases(doubling)
    assert tried(exercise, lambda x: 2 * x.clamp(max=1)) == (None, 3)
    assert tried(doubling, lambda x: 3 * x) == (None, 0)


def test_a_stub_is_not_tried(doubling):
    exercise = with_small_cases(doubling)
    verdict = judge(exercise, exercise.cases, lambda _: {RAISED: "unsolved", STUB: ""})
    assert add_smallest(verdict, exercise, None) is verdict


def test_an_error_that_every_input_raises_needs_no_small_one(doubling):
    exercise, error = with_small_cases(doubling), {RAISED: "NameError: no\nline 1"}
    verdict = judge(exercise, exercise.cases, lambda _: error)
    assert add_smallest(verdict, exercise, lambda _: error).smallest is None


def test_what_a_sandbox_says_of_ready_made_answers_is_not_believed(doubling):
    exercise = with_small_cases(doubling)
    verdict = judge(exercise, exercise.cases, lambda _: {"twice": row(7.0)})
    answers = {CALLED: "torch.softmax", "twice": row(7.0)}
    result = add_smallest(verdict, exercise, lambda _: answers).smallest
    assert [f.problem for f in result.findings] == ["values"]


def test_code_that_does_not_end_is_stopped(monkeypatch):
    monkeypatch.setattr(smallest, "_SECONDS", 0.05)

    def probe(answer, inputs):
        while True:
            torch.ones(2).sum()

    assert observe_briefly(probe, None, {}) == {RAISED: NO_END}


def test_in_a_thread_an_answer_is_observed_without_a_limit():
    answers = []

    def observe():
        answers.append(observe_briefly(lambda answer, _: {"y": answer}, "a", {}))

    thread = threading.Thread(target=observe)
    thread.start()
    thread.join()
    assert answers == [{"y": "a"}]
