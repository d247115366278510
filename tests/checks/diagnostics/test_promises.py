"""What a docstring promises, and an answer does not keep, is told."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from autograder.checks.compare import compare
from autograder.checks.diagnostics.symptoms import (
    ONLY_IN_TRAINING,
    of_a_property,
    of_all,
)
from autograder.checks.exercise import RAISED, Case
from tests.checks.answered import X

NAMES = Case("c", "the largest", "", {}, {"a.bias": X, "other names": "none"})
PROPERTY = Case(
    "p", "p", "", {}, {"y · in eval mode": X, "y · in training mode": X},
    says="Wrong: {label}.", asks="Why?",
)  # fmt: skip
LINE = "\nin your line 3: raise ValueError('too long')"


def name_symptom(answers: dict, case: Case = NAMES, *results: object) -> str:
    symptom = of_all([compare(case, answers), *results])
    return symptom.says if symptom else ""


@pytest.mark.parametrize(
    ("answers", "message"),
    [
        ({"other names": "none"}, "is missing from what comes back: `a.bias`"),
        ({"other names": "a_bias, b"}, "`a.bias` is missing, and instead there is"),
        ({"a.bias": X, "other names": "h"}, "more than the docstring lists: h"),
    ],
)
def test_another_key_is_told(answers, message):
    assert message in name_symptom(answers)


@pytest.mark.parametrize(
    ("actual", "message"),
    [
        ("no error", "`ValueError` is promised, but your code raises no error"),
        ("AssertionError", "what your code raises is different: AssertionError"),
    ],
)
def test_another_class_of_error_is_told(actual, message):
    case = Case("c", "c", "", {}, {"with an odd size": "ValueError"})
    assert message in name_symptom({"with an odd size": actual}, case)


def test_an_input_that_is_allowed_and_refused_is_told():
    right = compare(NAMES, dict(NAMES.expected))
    refused = {RAISED: f"ValueError: too long{LINE}"}
    message = name_symptom(refused, NAMES, right)
    assert "refuses an input that is allowed: the largest" in message


def test_a_gradient_where_there_should_be_none_is_told():
    case = Case("c", "c", "", {}, {"gradient of w": torch.tensor([0.0, 2.0])})
    everywhere = name_symptom({"gradient of w": torch.full((2,), 2.0)}, case)
    assert "reaches entries that should" in everywhere
    none = name_symptom({"gradient of w": torch.zeros(2)}, case)
    assert "is not" in none


def test_a_gradient_of_another_dtype_is_told():
    case = Case("c", "c", "", {}, {"gradient of w": torch.tensor([0.0, 2.0])})
    message = name_symptom({"gradient of w": torch.full((2,), 2.0).double()}, case)
    assert "the gradient of w is not" in message


def test_an_input_that_changes_beside_other_wrong_results_is_told():
    case = Case("c", "c", "", {"x": X}, {"y": X, "x afterwards": X})
    message = name_symptom({"y": X.sin(), "x afterwards": X + 1}, case)
    assert "writes into its input: x" in message


def test_an_argument_of_another_name_is_told_and_not_blamed_on_state():
    error = "TypeError: f() got an unexpected keyword argument 'mask' (the same again)"
    symptom = of_a_property([compare(PROPERTY, {RAISED: error})])
    assert "an argument called `mask`" in symptom.says and "in the stub" in symptom.asks


def test_what_is_right_in_training_mode_only_is_told():
    wrong = {"y · in eval mode": -X, "y · in training mode": X}
    symptom = of_a_property([compare(PROPERTY, wrong)])
    assert (symptom.says, symptom.asks) == ONLY_IN_TRAINING


def test_nothing_is_said_of_training_mode_where_it_was_not_observed():
    only_eval = replace(PROPERTY, expected={"y · in eval mode": X})
    wrong = [compare(only_eval, {"y · in eval mode": -X})]
    assert of_a_property(wrong) is None


def test_a_cache_that_goes_stale_is_not_taken_for_a_cut_graph():
    """A gradient is that of a second call, so it is wrong where that is."""
    gradient_case = Case("c", "c", "", {}, {"y": X, "gradient of x": X})
    expected = {"y · at first": X, "y · later": X}
    calls = replace(PROPERTY, expected=expected, aspect="calls")
    gradient = compare(gradient_case, {"y": X, "gradient of x": 0 * X})
    stale = compare(calls, {"y · at first": X, "y · later": -X})
    steady = compare(calls, dict(calls.expected))
    assert of_all([gradient, stale]).says == "Wrong: later."
    assert "leave the graph" in of_all([gradient, steady]).asks
