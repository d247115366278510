"""What is said of a wrong answer that no known mistake explains was seen in it."""

from __future__ import annotations

from dataclasses import replace

import torch

from autograder.checks.compare import compare, judge
from autograder.checks.diagnostics.symptoms import of_all
from autograder.checks.exercise import RAISED, Case
from autograder.checks.points import SEQUENCE
from tests.checks.answered import CASES, EXERCISE, describe_mistake
from tests.checks.diagnostics.seen import judged

X = torch.arange(1.0, 7.0).reshape(2, 3)
RIGHT = ({"output": X}, {"output": X})
WRONG = ({"output": X}, {"output": X**2})
OTHER = ({"output": X}, {"output": 30 - X**3})


def name_symptom(*pairs, hidden: bool = False) -> str:
    symptom = of_all(judged(*pairs, hidden=hidden))
    return symptom.says if symptom else ""


def test_nothing_is_said_of_what_is_wrong_in_several_ways():
    def two_ways(right: dict) -> dict:
        output, weights = right["output"].tan(), right["weights"].square()
        return right | {"output": output, "weights": weights.softmax(-1)}

    assert describe_mistake(two_ways) == ""


def test_a_symptom_holds_for_every_wrong_case():
    def one_each(case: Case) -> dict:
        output = case.expected["output"]
        output = 2 * output if case.name == "a" else output.tan()
        weights = case.expected["weights"].square().softmax(-1)
        return dict(case.expected) | {"output": output, "weights": weights}

    assert judge(EXERCISE, CASES, one_each).mistake is None


def test_the_one_case_that_is_wrong_is_told():
    cases = (RIGHT, RIGHT, WRONG, RIGHT)
    assert name_symptom(*cases) == "Only one of the visible cases is wrong: case 2."
    assert name_symptom(*cases, hidden=True) == "Only one case is wrong: case 2."
    assert name_symptom(RIGHT, WRONG, RIGHT) == ""
    assert name_symptom(WRONG, RIGHT, OTHER, RIGHT) == ""
    assert of_all(judged(*cases), has_other_faults=True) is None


def test_calls_in_turn_may_be_wrong_as_well():
    results = judged(RIGHT, RIGHT, WRONG, RIGHT)
    again = judged(WRONG)[0]
    in_turn = replace(again.case, name=SEQUENCE, says="Wrong again.")
    symptom = of_all([*results, replace(again, case=in_turn)])
    assert (
        symptom.says == "Apart from successive calls, only one case is wrong: case 2."
    )


def test_its_shape_is_told_where_that_is_wrong():
    short = ({"output": X}, {"output": X[:1, 1:]})
    message = name_symptom(RIGHT, RIGHT, RIGHT, short)
    assert "case 3 (expected shape (2, 3), yours (1, 2))" in message


def test_counts_that_are_never_reached_are_told_together():
    three, none = torch.tensor(3), torch.tensor(0)
    right = {"form": three, "case": three, "word": three}
    message = name_symptom((right, {"form": none, "case": none, "word": 2 * three}))
    assert message == "These are 0 but should not be: form, case."


def test_an_error_in_a_measured_case_is_told():
    case = Case("m", "m", "", {}, {"rate": X}, measure="share", scale=((1.0, 1.0),))
    lost = compare(case, {RAISED: "NameError: name 'model' is not defined"})
    assert "`model`, which is not defined" in of_all([lost]).says
