"""Inputs that exercises of several units, or of attention, share."""

from __future__ import annotations

import torch

from autograder.authoring.draw import Draw
from autograder.authoring.specification import Inputs, Maker


def causal_mask(length: int) -> torch.Tensor:
    """A mask (L, L) that lets each position see itself and those before it."""
    return torch.ones(length, length, dtype=torch.bool).tril()


def open_mask(draw: Draw, *shape: int, chance: float = 0.5) -> torch.Tensor:
    """A mask with an allowed and a masked entry in every row, at random places."""
    keep = draw.flags(*shape, chance=chance)
    turn = draw.ids(0, shape[-1], *shape[:-1], 1)
    keep = keep.scatter(-1, turn, True)
    return keep.scatter(-1, (turn + 1) % shape[-1], False)


def with_zeros(maker: Maker, *names: str) -> Maker:
    """Put zeros at one position of some inputs, where they are values like others."""

    def inputs(draw: Draw) -> Inputs:
        tensors = maker(draw)
        for name in names:
            tensors[name][0, 1] = 0.0
        return tensors

    return inputs


def sizes_of(shape: str, **sizes: int) -> tuple[int, ...]:
    """The sizes of a shape in letters: ``"B 1 Lk"`` with B=2, Lk=5 is (2, 1, 5)."""
    return tuple(1 if name == "1" else sizes[name] for name in shape.split())


def queries_and_keys(
    *lead: int, lq: int, lk: int, d_k: int, scale: float = 2.0
) -> Maker:
    def inputs(draw: Draw) -> Inputs:
        return {
            "q": draw.tensor(*lead, lq, d_k, scale=scale),
            "k": draw.tensor(*lead, lk, d_k, scale=scale),
        }

    return inputs


def projections(draw: Draw, d_x: int, d_memory: int, d_k: int, d_v: int) -> Inputs:
    shapes = {"w_q": (d_k, d_x), "w_k": (d_k, d_memory), "w_v": (d_v, d_memory)}
    parameters: dict[str, tuple[int, ...]] = {}
    for name, (rows, columns) in shapes.items():
        parameters |= {f"{name}.weight": (rows, columns), f"{name}.bias": (rows,)}
    return dict(draw.weights(**parameters))
