"""A stand-in for dropout: seen wherever it acts, and the same in any layout."""

import torch
from torch.nn import functional

from autograder.checks.properties.fake_dropout import shrink

X = torch.linspace(-3, 3, 24).reshape(2, 3, 4)
RATE = 0.25


def test_the_order_of_dimensions_makes_no_difference():
    turned = X.permute(2, 0, 1)
    assert torch.equal(shrink(turned, RATE), shrink(X, RATE).permute(2, 0, 1))


def test_before_or_after_a_relu_is_the_same():
    assert torch.equal(shrink(X.relu(), RATE), shrink(X, RATE).relu())


def test_neither_a_norm_nor_a_sum_nor_a_factor_undoes_it():
    shrunk = shrink(X, RATE)
    for undo in (lambda x: functional.layer_norm(x, (4,)), lambda x: x.sum(-1)):
        assert not torch.allclose(undo(shrunk), undo(X), atol=0.1)
    assert (shrunk / X).std() > 0.1


def test_small_numbers_tell_its_place_as_well():
    weights = torch.tensor([0.02, 0.05, 0.13, 0.8])
    assert (shrink(weights, RATE) / weights).std() > 0.05


def test_its_gradient_is_that_of_a_mask():
    x = X.clone().requires_grad_()
    shrink(x, RATE).sum().backward()
    assert torch.allclose(x.grad * X, shrink(X, RATE))


def test_a_rate_of_zero_drops_nothing():
    assert shrink(X, 0.0) is X
