"""What all wrong answers of an exercise have in common is told."""

from __future__ import annotations

import pytest
import torch

from autograder.checks.compare import compare
from autograder.checks.diagnostics.symptoms import of_all
from autograder.checks.exercise import RAISED, Case
from tests.checks.answered import X, change, describe_mistake


def swapped(right: dict) -> dict:
    return right | {"output": right["weights"], "weights": right["output"]}


@pytest.mark.parametrize(
    ("answering", "message"),
    [
        (lambda _: {RAISED: "expected output to be a tensor, got None"}, "Nothing"),
        (change("x afterwards", lambda x: x + 1), "writes into its input: x"),
        (change("x afterwards", torch.zeros_like), "writes into its input: x"),
        (change("gradient of x", torch.zeros_like), "the gradient of x is not"),
        (change("output, second call", lambda x: x + X), "the same call again is not"),
        (change("output", lambda x: x.half()), "dtype is float16 instead of"),
        (change("output", lambda x: x / 0), "NaN or infinity"),
        (change("output", torch.zeros_like), "all zeros"),
        (swapped, "in the wrong order"),
        (change("output", lambda x: x[None]), "shape is (1, 3, 4) instead of"),
        (change("output", lambda x: x.T.reshape(3, 4)), "at the wrong positions"),
        (change("output", lambda x: -2.5 * x), "Every wrong value is -2.5 times"),
        (change("output", lambda x: x.bfloat16().float()), "Nearly right"),
        (change("output", lambda x: torch.cat([x[:1], x[1:].cos() + 2])),
         "Only the first entry"),
    ],
)  # fmt: skip
def test_a_symptom_is_told(answering, message):
    assert message in describe_mistake(answering)


def test_yes_and_no_are_not_told_to_have_changed_places():
    yes, no = torch.tensor(True), torch.tensor(False)
    case = Case("c", "c", "", {}, {"moved": yes, "alike": no})
    symptom = of_all([compare(case, {"moved": no, "alike": yes})])
    assert symptom is None or "wrong order" not in symptom.says


def test_an_input_that_comes_back_is_known():
    def unchanged(right: dict) -> dict:
        return right | {"output": right["x afterwards"]}

    assert describe_mistake(unchanged) == "Your code returns `x` unchanged."


def test_a_parameter_that_is_missing_is_told_and_nothing_of_the_rest():
    right = {"parameters that are missing": "none", "output": X}
    case = Case("c", "c", "", {}, right)
    lacking = right | {"parameters that are missing": "`w_o.bias`"}
    for further in ({}, {"output": X.cos() + X}):
        symptom = of_all([compare(case, lacking | further)])
        assert symptom and symptom.says == "Your module lacks `w_o.bias`."


def test_one_result_of_several_that_is_all_zeros_is_named():
    case = Case("c", "c", "", {}, {"w.bias": X + 1, "w.weight": X})
    symptom = of_all([compare(case, {"w.bias": 0 * X, "w.weight": X})])
    assert symptom and symptom.says == '"w.bias" is all zeros.'
    symptom = of_all([compare(case, {"w.bias": 0 * X, "w.weight": 0 * X})])
    assert symptom and symptom.says == "Your result is all zeros."


def test_a_count_that_is_a_float_is_no_integer():
    case = Case("c", "c", "", {}, {"count": torch.tensor(3), "more": X})
    symptom = of_all([compare(case, {"count": torch.tensor(3.0), "more": X + 1})])
    assert symptom and symptom.says.startswith('"count" should hold integers')


def test_a_parameter_too_many_is_told_where_all_else_is_right():
    case = Case("c", "c", "", {}, {"other parameters": "none", "output": X})
    symptom = of_all([compare(case, {"other parameters": "w_o.bias", "output": X})])
    assert symptom and symptom.says.endswith("holds more than is asked for: w_o.bias.")


@pytest.mark.parametrize(
    ("kind_of_answer", "kinds"),
    [("a tuple", "a tuple"), ("a list, a str, a tuple", "a list, a str and a tuple")],
)
def test_right_values_of_another_kind_are_told_in_good_grammar(kind_of_answer, kinds):
    expected = {"merged": "[1]", "kind of the symbols": "a list"}
    case = Case("a", "a", "", {}, expected)
    answers = expected | {"kind of the symbols": kind_of_answer}
    symptom = of_all([compare(case, answers)])
    assert symptom.says == (
        "All values are right, but the kind of the symbols is not: "
        f"{kinds} instead of a list."
    )
