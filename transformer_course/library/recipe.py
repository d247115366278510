"""How units 7, 9 and 10 train small models: start, optimizer, learning rate."""

from __future__ import annotations

import math
from collections.abc import Iterable

import torch
from torch import nn

WARM_UP = 0.05  # of the steps


def start_small(model: nn.Module, seed: int, std: float) -> nn.Module:
    """The model with random matrices of a standard deviation; its norms stay.

    Models whose matrices have equal shapes in equal order start alike.
    """
    random = torch.Generator().manual_seed(seed)
    for parameter in model.parameters():
        if parameter.dim() == 2:
            nn.init.normal_(parameter, std=std, generator=random)
    return model


def rate_factor(step: int, steps: int) -> float:
    """The share of the peak learning rate: linear warm-up, then a cosine to zero."""
    warm = max(1, round(WARM_UP * steps))
    if step < warm:
        return (step + 1) / warm
    return (1 + math.cos(math.pi * (step - warm) / (steps - warm))) / 2


def adamw(parameters: Iterable[nn.Parameter], rate: float) -> torch.optim.Optimizer:
    """AdamW as in all of these training runs."""
    return torch.optim.AdamW(
        parameters, rate, (0.9, 0.95), weight_decay=0.1, fused=True
    )
