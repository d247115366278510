"""The recipe of small models: they start alike, and the rate rises and falls."""

import pytest
import torch
from torch import nn

from transformer_course.library import recipe


def model() -> nn.Module:
    return nn.Sequential(nn.Linear(20, 30, bias=False), nn.RMSNorm(30))


def test_matrices_are_small_and_equal_for_equal_seeds_and_norms_stay():
    first, again, third = (recipe.start_small(model(), s, 0.1) for s in (0, 0, 1))
    assert torch.equal(first[0].weight, again[0].weight)
    assert not torch.equal(first[0].weight, third[0].weight)
    assert first[0].weight.std().item() == pytest.approx(0.1, rel=0.1)
    assert torch.equal(first[1].weight, torch.ones(30))


def test_the_rate_rises_for_a_twentieth_of_the_steps_and_falls_to_nothing():
    factors = [recipe.rate_factor(step, 100) for step in range(101)]
    assert factors[:5] == pytest.approx([0.2, 0.4, 0.6, 0.8, 1.0])
    assert factors[5:] == sorted(factors[5:], reverse=True)
    assert factors[100] == pytest.approx(0.0)


def test_the_optimizer_is_adamw_as_language_models_have_it():
    (group,) = recipe.adamw(model().parameters(), 0.01).param_groups
    assert (group["lr"], group["betas"], group["weight_decay"]) == (
        0.01, (0.9, 0.95), 0.1
    )  # fmt: skip
