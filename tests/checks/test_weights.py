"""Weights come by name; a bias too few or too many does not hide the rest."""

import copy

import pytest
import torch
from torch import nn

from autograder.checks.exercise import WrongAnswerError
from autograder.checks.probes.weights import (
    load_weights,
    report_initialisation,
    weights_of,
    with_weights,
)


class Two(nn.Module):
    """Two maps and a norm, each with a bias or without."""

    def __init__(self, first: bool = True, second: bool = True, norm: bool = True):
        super().__init__()
        self.first = nn.Linear(2, 3, bias=first)
        self.second = nn.Linear(3, 4, bias=second)
        self.norm = nn.LayerNorm(4, bias=norm)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.norm(self.second(self.first(x).tanh()))


def draw_weights(*without: str) -> dict[str, torch.Tensor]:
    torch.manual_seed(3)
    model = Two()
    for parameter in model.parameters():
        nn.init.normal_(parameter)
    return {n: v for n, v in weights_of(model).items() if n[8:] not in without}


X = torch.arange(10.0).reshape(5, 2).sin()


@pytest.mark.parametrize("left_out", [["second"], ["first", "second"], ["norm"]])
def test_a_bias_that_was_left_out_is_said_and_put_in_its_place(left_out):
    module = Two(**dict.fromkeys(left_out, False))
    missing = report_initialisation(module, draw_weights())[
        "parameters that are missing"
    ]
    assert missing == ", ".join(f"`{name}.bias`" for name in left_out)
    whole = load_weights(Two(), draw_weights())
    assert torch.equal(load_weights(module, draw_weights())(X), whole(X))
    assert (
        report_initialisation(whole, draw_weights())["parameters that are missing"]
        == "none"
    )


def test_a_bias_that_nobody_asked_for_does_nothing():
    weights, lean = draw_weights("first.bias", "norm.bias"), Two(False, norm=False)
    assert torch.equal(load_weights(Two(), weights)(X), load_weights(lean, weights)(X))


def test_where_more_is_missing_than_a_bias_nothing_is_put_in_place():
    module = Two(second=False)
    del module.first
    message = r"`first\.weight`, `first\.bias`, `second\.bias`"
    with pytest.raises(WrongAnswerError, match=message):
        load_weights(module, draw_weights())
    assert module.second.bias is None


def test_of_a_modules_parameters_the_one_with_the_nearest_name_comes_first():
    module = Two()
    module.second_map = module.second
    del module.second
    with pytest.raises(WrongAnswerError, match=r"found `second_map\.weight`"):
        load_weights(module, draw_weights())


class Ignores(nn.Linear):
    """A map that would not use a bias."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x @ self.weight.T


def test_a_module_that_would_not_use_its_bias_has_other_values():
    module = Two(second=False)
    module.second = Ignores(3, 4, bias=False)
    output = load_weights(module, draw_weights())(X)
    assert not torch.allclose(output, load_weights(Two(), draw_weights())(X))


def test_a_model_without_a_bias_is_one_whose_bias_is_zero():
    lean = Two(second=False)
    rebuilt = with_weights(Two(), weights_of(lean), "another model")
    assert torch.equal(rebuilt(X), lean(X))
    with pytest.raises(WrongAnswerError, match="another model"):
        with_weights(Two(), draw_weights("second.weight"), "another model")


def test_numbers_of_the_given_weights_stay_as_they_are():
    weights = draw_weights()
    before = copy.deepcopy(weights)
    with torch.no_grad():
        load_weights(Two(second=False), weights).second.bias.add_(1)
    assert all(torch.equal(weights[name], before[name]) for name in weights)
