"""A mistake is named if it explains the answers to fresh inputs, in time."""

import time
from dataclasses import replace

import pytest

from autograder.authoring import answers
from autograder.authoring.catalogue import specification
from autograder.authoring.notation import student_program
from autograder.checks import references
from autograder.checks.compare import compare, judge
from autograder.checks.observe import observe
from autograder.checks.probes import find
from autograder.grading.judge import naming
from tests.grading.sandbox_and_judge import NAME, judged
from transformer_course.solutions import attention


def undivided(x):
    return (x - x.amax(-1, keepdim=True)).exp()


@pytest.fixture(autouse=True)
def nothing_is_known():
    naming._answered.clear()


@pytest.mark.parametrize(
    ("answer", "most"),
    [
        (attention.stable_softmax, 0),  # right
        (undivided, 3),  # one of the named mistakes
        (lambda x: x.no_such_method(), 0),  # an error that no mistake makes
    ],
)
def test_only_likely_mistakes_are_computed(sandbox, monkeypatch, answer, most):
    computed = []
    compute = answers.mistaken_answers
    monkeypatch.setattr(
        answers,
        "mistaken_answers",
        lambda task, objects, inputs: (
            computed.append(len(objects)) or compute(task, objects, inputs)
        ),
    )
    judged(sandbox(lambda: answer))
    mistakes = references.load("attention")[NAME].mistakes
    assert max(computed, default=0) <= most < len(mistakes)


def test_who_fails_hidden_cases_only_is_compared_with_mistakes_of_that_kind(
    sandbox, monkeypatch
):
    compared, compute = set(), answers.mistaken_objects
    monkeypatch.setattr(
        answers,
        "mistaken_objects",
        lambda task, names: compared.update(names) or compute(task, names),
    )
    cases = references.load("attention")[NAME].cases
    values = {
        tuple(value.flatten().tolist())
        for case in cases
        for name, value in case.inputs.items()
        if name.endswith("x")
    }

    def learnt_by_heart(x):
        weights = attention.stable_softmax(x)
        return weights if tuple(x.flatten().tolist()) in values else weights + 1

    verdict = judged(sandbox(lambda: learnt_by_heart))
    assert verdict.points < verdict.max_points
    wrong_in_visible_ones = {
        name
        for case in cases
        for name, answers_given in case.mistakes.items()
        if not case.says and not compare(case, answers_given).passed
    }
    assert wrong_in_visible_ones and not compared & wrong_in_visible_ones


def test_a_student_s_program_is_never_executed_in_the_judge():
    """Its name stays a likely one, by its answers that the build has stored."""
    exercise, task = references.load("attention")[NAME], specification(NAME)
    stored = dict(exercise.mistakes)
    programs = [
        replace(mutant, variants=[student_program("raise SystemExit")])
        for mutant in task.mutants
    ]
    fresh = [replace(case, mistakes={}, hidden=True) for case in exercise.cases]
    cases = [*exercise.cases, *fresh]
    result = judge(exercise, cases, lambda case: answers_of(undivided, case))
    assert result.sure and result.mistake.name in stored
    verdict = naming.name_mistake(exercise, replace(task, mutants=programs), result)
    assert verdict.mistake == result.mistake and not verdict.sure


def test_a_student_s_program_is_not_sure_if_only_hidden_cases_fail():
    """It gives the right answers to the visible ones, so none contradicts it."""
    exercise, task = references.load("attention")[NAME], specification(NAME)
    mutant = replace(task.mutants[0], variants=[student_program("raise SystemExit")])
    mistake, case = exercise.mistakes[mutant.name], exercise.cases[0]
    right = answers_of(attention.stable_softmax, case)
    visible = replace(case, mistakes=dict.fromkeys(mistake.variants, right))
    exercise = replace(exercise, cases=(visible,), mistakes={mistake.name: mistake})
    result = judge(
        exercise,
        [visible, replace(case, mistakes={}, hidden=True)],
        lambda case: answers_of(undivided, case) if case.hidden else right,
    )
    verdict = naming.name_mistake(exercise, replace(task, mutants=[mutant]), result)
    assert verdict.mistake == mistake and not verdict.sure


def answers_of(answer, case):
    return observe(find(NAME), answer, case.inputs)


def test_what_a_mistake_answers_to_a_case_is_found_once(sandbox, monkeypatch):
    objects_computed, compute = [], answers.mistaken_answers
    monkeypatch.setattr(
        answers,
        "mistaken_answers",
        lambda task, objects, inputs: (
            objects_computed.extend(
                (name, inputs) for name in objects
            )  # kept: an id is unique
            or compute(task, objects, inputs)
        ),
    )
    first, second = (judged(sandbox(lambda: undivided)) for _ in range(2))
    assert objects_computed and len(objects_computed) == len(
        {(name, id(inputs)) for name, inputs in objects_computed}
    )
    assert first.mistake == second.mistake and first.sure == second.sure
    assert first.mistake and first.points < first.max_points


def test_a_mistake_that_takes_too_long_to_find_is_not_named(sandbox, monkeypatch):
    def endless(task, objects, inputs):
        while True:
            time.process_time()

    monkeypatch.setattr(naming, "NAMING_SECONDS", 0.2)
    monkeypatch.setattr(answers, "mistaken_answers", endless)
    verdict = judged(sandbox(lambda: undivided))
    assert 0 <= verdict.points < verdict.max_points
