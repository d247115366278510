"""Inputs that several exercises of the unit share."""

from __future__ import annotations

import torch

from autograder.authoring.draw import Draw
from autograder.authoring.inputs import open_mask
from autograder.authoring.specification import Inputs, Maker


def linear_parameters(draw: Draw, scale: float, **shapes: tuple[int, ...]) -> Inputs:
    """Weights and biases of linear layers: ``w_q=(6, 5)`` is from 5 to 6 features."""
    parameters: Inputs = {}
    for name, shape in shapes.items():
        parameters[f"weights.{name}.weight"] = draw.tensor(*shape, scale=scale)
        parameters[f"weights.{name}.bias"] = draw.tensor(shape[0], scale=1.0)
    return parameters


def head_parameters(
    draw: Draw, h: int, d_model: int, d_k: int, d_v: int, scale: float
) -> Inputs:
    parameters: Inputs = {}
    for i in range(h):
        sizes = {"w_q": (d_k, d_model), "w_k": (d_k, d_model), "w_v": (d_v, d_model)}
        named = {f"heads.{i}.{name}": shape for name, shape in sizes.items()}
        parameters |= linear_parameters(draw, scale, **named)
    return parameters


def multi_head_inputs(
    batch: int,
    h: int,
    d_k: int,
    lq: int,
    lk: int,
    mask: tuple[int, ...] = (),
    pull: bool = False,
    scale: float = 0.5,
) -> Maker:
    """Three sequences and the weights; a mask, and a pull."""

    def make_inputs(draw: Draw) -> Inputs:
        d_model = h * d_k
        inputs: Inputs = {
            "query": draw.tensor(batch, lq, d_model),
            "key": draw.tensor(batch, lk, d_model),
            "value": draw.tensor(batch, lk, d_model),
            "num_heads": torch.tensor(h),
        }
        square = (d_model, d_model)
        inputs |= linear_parameters(
            draw, scale, w_q=square, w_k=square, w_v=square, w_o=square
        )
        inputs |= {"mask": open_mask(draw, *mask)} if mask else {}
        return inputs | ({"pull": draw.tensor(batch, lq, d_model)} if pull else {})

    return make_inputs


def uneven_sizes(draw: Draw) -> torch.Tensor:
    """Pairs (d_model, number of heads) that leave a remainder."""
    heads = 3 + int(draw.ids(0, 4))
    pairs = [[heads * 3 + 1, heads], [heads - 1, heads], [heads * 4 - 1, heads]]
    return torch.tensor(pairs)
