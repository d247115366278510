"""Which outputs move when one position of an input is pushed."""

from __future__ import annotations

from collections.abc import Callable

import torch

LIMIT = 1e-6  # up to this, a movement may be rounding
FAINT = 1e-4  # below this, rounding may decide on which side of the limit it is


def even(x: torch.Tensor) -> torch.Tensor:
    """One number for all features; no norm may follow, which would remove it."""
    return torch.ones(x.size(-1), dtype=x.dtype)


def uneven(x: torch.Tensor) -> torch.Tensor:
    """From -1 to 1 over the features, (d,)."""
    return torch.linspace(-1, 1, x.size(-1), dtype=x.dtype)


def zigzag(x: torch.Tensor) -> torch.Tensor:
    """Every other feature up, the others down, more and more, (d,)."""
    steps = torch.arange(1, x.size(-1) + 1, dtype=x.dtype) / x.size(-1)
    return torch.where(torch.arange(x.size(-1)) % 2 == 0, steps, -steps)


def who_moves(moved: Callable[[int, bool], torch.Tensor], length: int) -> torch.Tensor:
    """(B, Lq, length): does output i move when position j is pushed?

    By chance, a push may leave an open position's influence near the limit (two keys
    whose scores move alike, say), and right answers would differ by their rounding. So
    what moves so little is pushed once more, in another way.

    Args:
        moved: how all outputs move, ``(B, Lq, ...)``, when a position is pushed; the
            second argument says whether it is the other push.
        length: how many positions there are.
    """
    columns = []
    for j in range(length):
        amounts = moved(j, False).abs().flatten(2)  # (B, Lq, the rest)
        seen = (amounts > LIMIT).any(-1)
        faint = (amounts > 0).any(-1) & (amounts < FAINT).all(-1)
        if faint.any():
            seen |= (moved(j, True).abs().flatten(2) > LIMIT).any(-1)
        columns.append(seen)
    return torch.stack(columns, dim=-1)
