"""The usual probe reports results, arguments afterwards and gradients, of any call."""

from __future__ import annotations

import json

import numpy as np
import pytest
import torch
from torch import nn

from autograder.checks.exercise import WrongAnswerError
from autograder.checks.probes import OWN, find
from autograder.checks.probes.default import CALL, DEFAULT

X = torch.tensor([[1.0, -2.0, 3.0]])


def call(**description):
    return json.dumps({"order": ["x"], "results": ["the result"], **description})


def test_an_exercise_without_a_probe_has_this_one():
    assert find("no_such_unit/no_such_exercise") is DEFAULT
    assert find("multi_head_attention/merge_heads") is DEFAULT


def test_results_arguments_and_gradients_are_reported():
    inputs = {CALL: call(gradients=True), "x": X.clone()}
    observations = DEFAULT(lambda x: x.square(), inputs)
    assert set(observations) == {"the result", "x afterwards", "gradient of x"}
    assert torch.equal(observations["the result"], X.square())
    weights = torch.arange(1, 4).cos()
    assert torch.allclose(observations["gradient of x"], 2 * X * weights)


def test_no_path_to_the_result_is_a_gradient_of_zero():
    inputs = {CALL: call(gradients=True), "x": X.clone()}
    observations = DEFAULT(lambda x: x.detach() + 1, inputs)
    assert torch.equal(observations["gradient of x"], torch.zeros_like(X))


def test_arguments_are_passed_by_position_until_one_is_left_out():
    inputs = {
        CALL: call(order=["x", "scale", "shift"]),
        "x": X.clone(),
        "shift": torch.tensor(2),
    }

    def student(numbers, by=1.0, shift=0):
        return by * numbers + shift

    assert torch.equal(DEFAULT(student, inputs)["the result"], X + 2)


def test_several_results_have_their_names_or_are_said_to_lack_one():
    inputs = {CALL: call(results=["output", "weights"]), "x": X.clone()}
    observations = DEFAULT(lambda x: (x, 2 * x), inputs)
    assert torch.equal(observations["weights"], 2 * X)
    with pytest.raises(WrongAnswerError, match=r"a tuple \(output, weights\)"):
        DEFAULT(lambda x: x, inputs)


def test_arrays_of_numpy_are_values_like_tensors():
    inputs = {CALL: call(arrays=["x"]), "x": X.clone()}
    observations = DEFAULT(lambda x: np.flip(x, 1), inputs)
    assert torch.equal(observations["the result"], X.flip(1))
    assert torch.equal(observations["x afterwards"], X)


def test_a_module_is_created_gets_weights_and_is_called():
    inputs = {
        CALL: call(module=["n"], dtype="float64", cast=["x"]),
        "make.n": torch.tensor(3),
        "weights.weight": torch.ones(3, 3),
        "weights.bias": torch.zeros(3),
        "x": X.clone(),
    }
    observations = DEFAULT(lambda n: nn.Linear(n, n), inputs)
    assert torch.allclose(observations["the result"], torch.full((1, 3), 2.0))
    assert observations["type of the result"] == "torch.float64"
    assert observations["parameters"] == "bias (3,), weight (3, 3)"


def test_what_no_usual_name_has_is_a_result():
    assert DEFAULT.aspect("the features") == OWN
    assert DEFAULT.aspect("x afterwards") == "calls"
    assert DEFAULT.aspect("gradient of x") == "gradients"


def test_only_what_is_said_to_be_cast_is_cast():
    angles = torch.full((1, 3), 0.5, dtype=torch.float64)
    inputs = {
        CALL: call(order=["x", "angles"], dtype="float16", cast=["x"]),
        "x": X.clone(),
        "angles": angles,
    }
    observations = DEFAULT(lambda x, angles: (x * angles).to(x.dtype), inputs)
    assert observations["type of the result"] == "torch.float16"
    assert observations["the result"].dtype == torch.float32
    assert "x afterwards" not in observations
    assert torch.equal(observations["angles afterwards"], angles.float())
