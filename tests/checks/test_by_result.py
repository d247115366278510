"""One of several results may prove a mistake that the others do not show."""

from __future__ import annotations

from dataclasses import replace

import torch

from autograder.checks.compare import judge
from autograder.checks.diagnostics.symptoms import SEEN
from autograder.checks.exercise import Case, Exercise, Mistake

X = torch.tensor([1.0, -2.0, 4.0, 0.5, 7.0])
RIGHT = {"y": 2 * X, "z": X.abs()}
TRIPLED, OTHER = {"y": 3 * X, "z": 1 - X}, {"y": 5 * X, "z": X}
MISTAKES = {n: Mistake(n, f"It is {n}.", f"Why {n}?") for n in ("tripled", "other")}
CASES = tuple(
    Case(name, name, "", {}, RIGHT, {"tripled": TRIPLED, "other": OTHER})
    for name in "abc"
)
# The one result is that of a mistake; the other one is what nothing explains.
MIXED = {"y": 3 * X, "z": X.sin()}


def name_mistake(answer: dict, cases: tuple[Case, ...] = CASES):
    exercise = Exercise("u/e", "E", 4.0, cases, MISTAKES)
    return judge(exercise, cases, lambda case: answer)


def test_the_mistake_of_one_result_is_named_as_likely():
    verdict = name_mistake(MIXED)
    assert verdict.mistake.says == "It is tripled." and not verdict.sure
    assert verdict.mistake.asks.endswith("Which cases still fail?")


def test_two_results_prove_two_mistakes():
    assert name_mistake({"y": 3 * X, "z": X}).mistake.name == "tripled + other"


def test_what_two_mistakes_give_proves_neither():
    twins = tuple(
        replace(c, mistakes={"tripled": TRIPLED, "other": OTHER | {"y": 3 * X}})
        for c in CASES
    )
    assert name_mistake(MIXED, twins).mistake.name == SEEN


def test_a_mistake_that_would_spoil_what_is_right_is_not_named():
    verdict = name_mistake({"y": 3 * X, "z": X.abs()})
    assert verdict.mistake.name == SEEN


def test_one_case_is_too_few():
    right = tuple(replace(c, mistakes=dict.fromkeys(MISTAKES, RIGHT)) for c in CASES)
    cases = (CASES[0], *right[1:])
    answers = iter((MIXED, RIGHT, RIGHT))
    exercise = Exercise("u/e", "E", 4.0, cases, MISTAKES)
    mistake = judge(exercise, cases, lambda case: next(answers)).mistake
    assert mistake is None or mistake.name == SEEN
