"""Inputs of a language model's layers, which exercises of several units share."""

from __future__ import annotations

import torch

from autograder.authoring.contract import Again
from autograder.authoring.draw import Draw
from autograder.authoring.specification import Inputs, Maker

Shapes = dict[str, tuple[int, ...]]
# A norm's epsilon does not count among vectors of one size, and does among the other.
LARGE, FAINT = 8.0, 2.0**-8


def whole(**numbers: int) -> Inputs:
    """Whole numbers as inputs, by their names."""
    return {name: torch.tensor(number) for name, number in numbers.items()}


def options(**numbers: float) -> Inputs:
    """Keyword arguments that the probe passes on, by their names."""
    return {f"option.{name}": torch.tensor(n) for name, n in numbers.items()}


def observing_moves(inputs: Maker) -> Maker:
    """Inputs with which the probe also sees which position affects which."""
    return lambda draw: {**inputs(draw), "look": "who moves whom"}


def one_text(length: int, d_model: int, scale: float = 1.0) -> Maker:
    """Arguments to call the same module again: a text ``(1, length, d_model)``."""
    return lambda draw: Again({"x": draw.tensor(1, length, d_model, scale=scale)})


def faint(inputs: Maker, *endings: str) -> Maker:
    """Scale down inputs whose names end like this, so that epsilon in norms matters."""
    return lambda draw: {
        name: value * FAINT if name.endswith(endings) else value
        for name, value in inputs(draw).items()
    }


def block_shapes(d_model: int, heads: int, groups: int, d_ff: int) -> Shapes:
    """The shapes of a block's parameters, by name."""
    attention = attention_shapes(d_model, heads, groups)
    return {
        "norm1.weight": (d_model,),
        **{f"attention.{name}": shape for name, shape in attention.items()},
        "norm2.weight": (d_model,),
        **{f"feed_forward.{n}": s for n, s in swiglu_shapes(d_model, d_ff).items()},
    }


def swiglu_shapes(d_model: int, d_ff: int) -> Shapes:
    """The shapes of the three matrices, by name."""
    width = 2 * d_ff // 3
    return {
        "w_gate.weight": (width, d_model),
        "w_up.weight": (width, d_model),
        "w_down.weight": (d_model, width),
    }


def attention_shapes(d_model: int, heads: int, groups: int) -> Shapes:
    """The shapes of the four projections, by name."""
    d_k = d_model // heads
    return {
        "w_q.weight": (heads * d_k, d_model),
        "w_k.weight": (groups * d_k, d_model),
        "w_v.weight": (groups * d_k, d_model),
        "w_o.weight": (d_model, heads * d_k),
    }


def attention_inputs(
    batch: int, length: int, d_model: int, heads: int, groups: int,
    norms: Shapes | None = None, **given: float,
) -> Maker:  # fmt: skip
    """Inputs of an attention layer: its weights, those of norms, its sizes, and x."""

    def inputs(draw: Draw) -> Inputs:
        shapes = attention_shapes(d_model, heads, groups) | (norms or {})
        return (
            draw.weights(**shapes)
            | whole(num_heads=heads, num_kv_heads=groups)
            | options(**given)
            | {
                "x": draw.tensor(batch, length, d_model, scale=1.0),
                "pull": draw.tensor(batch, length, d_model, scale=1.0),
            }
        )

    return inputs
