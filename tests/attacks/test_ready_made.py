"""Code that calls a ready-made answer earns nothing for what that computes.

In a sandbox, too: tests/attacks/test_every_day.py.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import pytest

from autograder.authoring.catalogue import specification, specifications
from autograder.authoring.specification import Variant
from autograder.authoring.variants import build_object
from autograder.authoring.verify import judge_drawings
from autograder.checks import references
from autograder.checks.exercise import CheckResult, Exercise
from autograder.checks.points import RESULTS, parts_of
from autograder.checks.properties import KEY
from autograder.checks.ready_made import is_pytorchs
from autograder.course import units
from tests.attacks.ready_made import CODE
from transformer_course.library import pipeline

ATTACKS = [(name, code) for name, codes in CODE.items() for code in codes]


@pytest.fixture(autouse=True)
def unpatched(monkeypatch):
    """Undo what an attack patches in the course's pipeline, in this very process."""
    for name in ("all_function_words", "lemma"):
        monkeypatch.setattr(pipeline, name, getattr(pipeline, name))


@cache
def visible(name: str) -> Exercise:
    """The visible cases of an exercise but those of its properties, which take long."""
    task = specification(name)
    exercise = references.load(task.unit, "public", name)[name]
    cases = tuple(case for case in exercise.cases if KEY not in case.inputs)
    return replace(exercise, cases=cases, ready_made=tuple(task.ready_made))


def judged(name: str, variant: Variant | None, *, watched: bool = True) -> CheckResult:
    exercise = visible(name)
    if not watched:
        exercise = replace(exercise, ready_made=())
    task = specification(name)
    return judge_drawings(task, build_object(task, variant), [exercise])


def attack(code: str) -> Variant:
    return Variant(name="attack", source=code)


@pytest.mark.parametrize(("name", "code"), ATTACKS, ids=[n for n, _ in ATTACKS])
def test_a_ready_made_answer_earns_nothing_for_its_results(name, code):
    verdict = judged(name, attack(code))
    assert verdict.mistake and verdict.mistake.name == "ready_made"
    called = verdict.mistake.says.split("`")[1]
    assert called in specification(name).ready_made
    parts = {part for result in verdict.results for part in parts_of(result.case)}
    for aspect, (points, _most) in verdict.aspects.items():
        if aspect in (*RESULTS, *parts) or not is_pytorchs(called):
            assert points == 0, aspect


@pytest.mark.parametrize("name", CODE)
def test_no_right_solution_calls_a_ready_made_answer(name):
    for variant in (None, *specification(name).accepted):
        verdict = judged(name, variant)
        assert not verdict.mistake or verdict.mistake.name != "ready_made", variant


def test_each_exercise_that_lists_ready_made_answers_is_attacked():
    listing = {
        task.name for unit in units() for task in specifications(unit.name)
        if task.ready_made
    }  # fmt: skip
    assert listing == set(CODE)


def test_what_these_attacks_compute_is_right():
    """Without a watch they earned most of the points, so that they show something."""
    for name in ("attention/softmax", "sequence_reversal/make_batch"):
        verdict = judged(name, attack(CODE[name][0]), watched=False)
        assert verdict.points == verdict.max_points
