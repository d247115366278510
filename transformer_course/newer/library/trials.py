"""Train small byte-level models for a number of steps, and measure them on new text."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from transformer_course.library import corpora, recipe

LENGTH = 32  # bytes in a window


@cache
def text_of(seed: int | str, sentences: int, split: str = "train") -> Tensor:
    """Generate sentences of the course's grammar as bytes, `(n,)`, int64.

    The splits "train", "dev" and "test" share no triple (subject, verb, object).
    """
    text = "\n".join(corpora.generate(seed, sentences, split)) + "\n"
    return torch.tensor(list(text.encode()))


def loss_of(model: nn.Module, windows: Tensor) -> Tensor:
    """Compute the mean loss, in nats, on windows `(B, L + 1)` of bytes.

    The first byte of each is not predicted.
    """
    return F.cross_entropy(model(windows[:, :-1]).transpose(1, 2), windows[:, 1:])


@dataclass
class Trial:
    """The results of a training run, with its CPU time in ``seconds``.

    ``losses`` has the loss of each step, and ``loss`` is the final one on new text,
    in nats per byte. ``watched`` is what ``watch`` returned; see `train`.
    """

    losses: list[float] = field(default_factory=list)
    watched: list[float] = field(default_factory=list)
    loss: float = 0.0
    seconds: float = 0.0

    def __str__(self) -> str:
        return (
            f"loss on new text {self.loss:.3f} "
            f"({len(self.losses)} steps, {self.seconds:.1f} CPU seconds)"
        )


def train(
    model: nn.Module,
    steps: int,
    seed: int,
    *,
    optimizers: Sequence[torch.optim.Optimizer] = (),
    extra: Callable[[], Tensor] | None = None,
    watch: Callable[[], float] | None = None,
    length: int = LENGTH,
) -> Trial:
    """Train a model on 32 windows of the course's text per step.

    Args:
        optimizers: each with its peak learning rate; by default, AdamW at 0.01.
        extra: its result is added to the loss of each step.
        watch: called after every tenth step and the last, for `Trial.watched`.
        length: bytes in a window.
    """
    started, run, text = time.process_time(), Trial(), text_of(seed, 20_000)
    random = torch.Generator().manual_seed(seed)
    optimizers = optimizers or (recipe.adamw(model.parameters(), 0.01),)
    groups = [group for optimizer in optimizers for group in optimizer.param_groups]
    peaks = [group["lr"] for group in groups]
    for step in range(steps):
        # Each group's rate follows the same schedule, scaled by its own peak.
        for group, peak in zip(groups, peaks, strict=True):
            group["lr"] = peak * recipe.rate_factor(step, steps)
        starts = torch.randint(len(text) - length, (32, 1), generator=random)
        loss = loss_of(model, text[starts + torch.arange(length + 1)])
        model.zero_grad()
        (loss + extra() if extra else loss).backward()
        nn.utils.clip_grad_norm_(list(model.parameters()), max_norm=1.0)
        for optimizer in optimizers:
            optimizer.step()
        run.losses.append(loss.item())
        if watch and (step % 10 == 0 or step == steps - 1):
            run.watched.append(watch())
    run.loss = loss_on_new_text(model)
    run.seconds = time.process_time() - started
    return run


def new_windows(length: int = LENGTH) -> Tensor:
    """Held-out text in windows `(N, length + 1)`."""
    text = text_of("fresh", 800, "test")
    return text[: len(text) // (length + 1) * (length + 1)].view(-1, length + 1)


@torch.no_grad()
def loss_on_new_text(model: nn.Module, length: int = LENGTH) -> float:
    """The mean loss per byte of the held-out text, in nats."""
    return loss_of(model, new_windows(length)).item()
