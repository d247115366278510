"""The model of the project: its switches, and what it attends to."""

from __future__ import annotations

import pytest
import torch

from transformer_course.library.model import Restorer, Sizes, cross_attention
from transformer_course.library.text import BOS, EOS
from transformer_course.solutions import encoder_decoder


@pytest.mark.parametrize("changes", [{"positions": "learned"}, {"residual": False}])
def test_switches_of_the_architecture(tokenizer, changes):
    model = Restorer(Sizes(len(tokenizer), 16, 2, 1, 24, **changes), encoder_decoder)
    assert model(torch.tensor([[5, EOS]]), torch.tensor([[BOS, 6, 7]])).shape == (
        1,
        3,
        len(tokenizer),
    )


def test_the_maps_of_the_cross_attention(model):
    weights = cross_attention(
        model, torch.tensor([[5, 6, EOS]]), torch.tensor([[BOS, 7]])
    )
    assert weights.shape == (1, 2, 2, 3)
    assert torch.allclose(weights.sum(-1), torch.ones(1, 2, 2))
