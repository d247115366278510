"""What is said of a wrong answer that no known mistake explains was seen in it."""

from __future__ import annotations

from autograder.checks.compare import judge
from autograder.checks.exercise import Case
from tests.checks.answered import CASES, EXERCISE, said


def test_nothing_is_said_of_what_is_wrong_in_several_ways():
    def two_ways(right: dict) -> dict:
        output, weights = right["output"].tan(), right["weights"].square()
        return right | {"output": output, "weights": weights.softmax(-1)}

    assert said(two_ways) == ""


def test_a_symptom_holds_for_every_wrong_case():
    def one_each(case: Case) -> dict:
        output = case.expected["output"]
        output = 2 * output if case.name == "a" else output.tan()
        weights = case.expected["weights"].square().softmax(-1)
        return dict(case.expected) | {"output": output, "weights": weights}

    assert judge(EXERCISE, CASES, one_each).mistake is None
