"""Helpers for cases: integers as inputs, and the shapes of a layer's parameters."""

from __future__ import annotations

import torch

from autograder.authoring.specification import Inputs

Shapes = dict[str, tuple[int, ...]]


def make_integers(**numbers: int) -> Inputs:
    """Convert integers to inputs of a case: tensors without dimensions, by name."""
    return {name: torch.tensor(number) for name, number in numbers.items()}


def list_block_shapes(d_model: int, heads: int, groups: int, d_ff: int) -> Shapes:
    """Map the names of a block's parameters to their shapes.

    The three matrices of the feed-forward network have the width 2/3 ``d_ff``.
    """
    attention = list_attention_shapes(d_model, heads, groups)
    width = 2 * d_ff // 3
    return {
        "norm1.weight": (d_model,),
        **{f"attention.{name}": shape for name, shape in attention.items()},
        "norm2.weight": (d_model,),
        "feed_forward.w_gate.weight": (width, d_model),
        "feed_forward.w_up.weight": (width, d_model),
        "feed_forward.w_down.weight": (d_model, width),
    }


def list_attention_shapes(d_model: int, heads: int, groups: int) -> Shapes:
    """Map the names of an attention layer's four weight matrices to their shapes."""
    d_k = d_model // heads
    return {
        "w_q.weight": (heads * d_k, d_model),
        "w_k.weight": (groups * d_k, d_model),
        "w_v.weight": (groups * d_k, d_model),
        "w_o.weight": (d_model, heads * d_k),
    }
