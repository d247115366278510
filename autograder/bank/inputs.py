"""Inputs that exercises of several units share."""

from __future__ import annotations

import torch

from autograder.oracle.draw import Draw


def causal_mask(length: int) -> torch.Tensor:
    """(L, L): each position sees itself and those before it."""
    return torch.ones(length, length, dtype=torch.bool).tril()


def open_mask(draw: Draw, *shape: int, chance: float = 0.5) -> torch.Tensor:
    """Every row has an open and a closed entry, not at a fixed place."""
    keep = draw.flags(*shape, chance=chance)
    turn = draw.ids(0, shape[-1], *shape[:-1], 1)
    keep = keep.scatter(-1, turn, True)
    return keep.scatter(-1, (turn + 1) % shape[-1], False)
