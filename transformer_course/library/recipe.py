"""The training recipe of units 7, 9 and 10: initialisation, optimizer, rates."""

from __future__ import annotations

import math
from collections.abc import Iterable

import torch
from torch import nn

WARM_UP = 0.05  # fraction of the steps


def start_small(model: nn.Module, seed: int, std: float) -> nn.Module:
    """Fill a model's matrices with random numbers, and return the model.

    Vectors, such as the weights of norms, are not changed.
    """
    random = torch.Generator().manual_seed(seed)
    for parameter in model.parameters():
        if parameter.dim() == 2:
            nn.init.normal_(parameter, std=std, generator=random)
    return model


def rate_factor(step: int, steps: int) -> float:
    """Return the learning rate in a step, as a fraction of the peak rate.

    It rises linearly during the first 5% of the steps, then falls like a cosine.
    """
    warm = max(1, round(WARM_UP * steps))
    if step < warm:
        return (step + 1) / warm
    return (1 + math.cos(math.pi * (step - warm) / (steps - warm))) / 2


def adamw(parameters: Iterable[nn.Parameter], rate: float) -> torch.optim.Optimizer:
    """The AdamW optimizer with the settings that units 7, 9 and 10 share."""
    return torch.optim.AdamW(
        parameters, rate, (0.9, 0.95), weight_decay=0.1, fused=True
    )
