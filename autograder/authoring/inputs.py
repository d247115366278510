"""Inputs that several exercises use: masks and shapes."""

from __future__ import annotations

import torch

from autograder.authoring.draw import Draw


def causal_mask(length: int) -> torch.Tensor:
    """Return the boolean causal mask (L, L), in which True allows attention.

    Row i is True up to column i, and False after it.
    """
    return torch.ones(length, length, dtype=torch.bool).tril()


def open_mask(draw: Draw, *shape: int, chance: float = 0.5) -> torch.Tensor:
    """Draw a mask with a True (may be attended to) and a False in every row.

    Rows need two entries or more; any others are True with probability ``chance``.
    """
    keep = draw.flags(*shape, chance=chance)
    allowed = draw.ids(0, shape[-1], *shape[:-1], 1)
    keep = keep.scatter(-1, allowed, True)
    return keep.scatter(-1, (allowed + 1) % shape[-1], False)


def sizes_of(shape: str, **sizes: int) -> tuple[int, ...]:
    """The sizes of a shape in letters: ``"B 1 Lk"`` with B=2, Lk=5 is (2, 1, 5)."""
    return tuple(1 if name == "1" else sizes[name] for name in shape.split())
