"""Periodic texts, and the training of a model that continues them."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from transformer_course.library.recipe import adamw

VOCABULARY = 64
LENGTH = 40  # tokens per text
PERIODS = (6, 18)  # the shortest and the longest period


def draw(
    random: torch.Generator, size: int, period: int | None = None
) -> tuple[Tensor, Tensor]:
    """Draw texts that repeat random tokens, each by default with a random period.

    Returns:
        ids `(size, LENGTH)`, and periods `(size,)`.
    """
    low, high = (period, period) if period else PERIODS
    periods = torch.randint(low, high + 1, (size,), generator=random)
    tokens = torch.randint(VOCABULARY, (size, LENGTH), generator=random)
    return tokens.gather(1, torch.arange(LENGTH) % periods[:, None]), periods


def measure(model: nn.Module, ids: Tensor, periods: Tensor) -> tuple[Tensor, float]:
    """Compute the mean loss and the accuracy on the tokens that can be known.

    These are all from the second token of the second period onwards, since only the
    first one shows that the text repeats. ``ids`` are the texts, `(B, L)`, and
    ``periods`` their periods, `(B,)`.
    """
    logits, targets = model(ids[:, :-1]), ids[:, 1:]  # (B, L - 1, V), (B, L - 1)
    known = torch.arange(1, ids.size(1)) > periods[:, None]
    losses = F.cross_entropy(logits.transpose(1, 2), targets, reduction="none")
    correct = (logits.argmax(-1) == targets)[known].float().mean().item()
    return losses[known].mean(), correct


def train(
    model: nn.Module, seed: int, steps: int = 400, period: int | None = None
) -> list[float]:
    """Train a model on 32 new periodic texts per step; return the loss of each step.

    ``seed`` determines the texts; for ``period``, see `draw`.
    """
    random, losses = torch.Generator().manual_seed(seed), []
    optimizer = adamw(model.parameters(), 0.01)
    for step in range(steps):
        cosine = (1 + math.cos(math.pi * step / steps)) / 2
        optimizer.param_groups[0]["lr"] = 0.01 * min(1, (step + 1) / 50) * cosine
        loss, _ = measure(model, *draw(random, 32, period))
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        losses.append(loss.item())
    return losses
