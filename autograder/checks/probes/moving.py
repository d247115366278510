"""Find out which outputs change when one position of an input is pushed (changed)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

LIMIT = 1e-6  # a change of an output up to this may be rounding
FAINT = 1e-4  # below this, rounding may decide on which side of the limit a change is
Push = Callable[[torch.Tensor], torch.Tensor]  # what is added to x's features, (d,)


def uniform(x: torch.Tensor) -> torch.Tensor:
    """Return a vector of ones, ``(d,)``, which changes all features of ``x`` alike.

    A layer norm that follows would undo such a change.
    """
    return torch.ones(x.size(-1), dtype=x.dtype)


def uneven(x: torch.Tensor) -> torch.Tensor:
    """Return a vector to add to the features of ``x``, from -1 up to 1: ``(d,)``."""
    return torch.linspace(-1, 1, x.size(-1), dtype=x.dtype)


def zigzag(x: torch.Tensor) -> torch.Tensor:
    """Return a vector that changes features of ``x`` up and down in turn: ``(d,)``.

    The changes grow from the first feature to the last.
    """
    steps = torch.arange(1, x.size(-1) + 1, dtype=x.dtype) / x.size(-1)
    return torch.where(torch.arange(x.size(-1)) % 2 == 0, steps, -steps)


def who_moves(
    moved: Callable[[int, Push], torch.Tensor], length: int, first: Push = uneven
) -> torch.Tensor:
    """Find which outputs i change if position j changes: bool, ``(B, Lq, length)``.

    Args:
        moved: called as ``moved(j, push)``; returns how much all outputs change,
            ``(B, Lq, ...)``. A push returns a vector to add to a position.
        first: the push that is tried first; another follows if its effect is faint.
    """
    columns = []
    for j in range(length):
        amounts = moved(j, first).abs().flatten(2)  # (B, Lq, the rest)
        moves = (amounts > LIMIT).any(-1)
        faint = (amounts > 0).any(-1) & (amounts < FAINT).all(-1)
        if faint.any():
            moves |= (moved(j, zigzag).abs().flatten(2) > LIMIT).any(-1)
        columns.append(moves)
    return torch.stack(columns, dim=-1)


def who_sees_whom(
    function: Callable[..., Any], sequences: Sequence[torch.Tensor], pushed: int
) -> torch.Tensor:
    """Find whether output i depends on position j of the inputs: bool ``(B, Lq, Lk)``.

    Sequences are scaled down, because among large scores the weight of an allowed
    key may be as small as a rounding error.

    Args:
        function: maps sequences, ``(B, L, d)`` each, to outputs ``(B, Lq, ...)``.
        pushed: how many sequences, from the last one, are changed together.
    """
    sequences = [0.25 * sequence for sequence in sequences]

    def move_outputs(j: int, push: Push) -> torch.Tensor:
        """How much the outputs change if position j is pushed."""
        changed = [sequence.clone() for sequence in sequences]
        for sequence in changed[-pushed:]:
            sequence[:, j] += 0.25 * push(sequence)
        movement: torch.Tensor = function(*changed) - before
        return movement

    with torch.no_grad():
        before = function(*sequences)
        return who_moves(move_outputs, sequences[-1].size(1), uniform)
