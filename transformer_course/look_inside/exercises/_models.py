"""The weights of a tiny stand-in model, for cases about the inside of a model."""

from __future__ import annotations

import torch

from autograder.authoring.draw import Draw
from autograder.authoring.specification import Inputs


def draw_model(draw: Draw, blocks: int, vocab_size: int, d_model: int, heads: int, groups: int) -> Inputs:
    """Draw weights of the stand-in model, as inputs named after its parameters.

    The input "heads" is (``heads``, ``groups``): as in grouped-query attention, the
    heads of a group share their values.
    """
    d_k = d_model // heads
    shapes: dict[str, tuple[int, ...]] = {"embedding.weight": (vocab_size, d_model)}
    for i in range(blocks):
        shapes |= {
            f"blocks.{i}.attention.w_v.weight": (groups * d_k, d_model),
            f"blocks.{i}.attention.w_o.weight": (d_model, heads * d_k),
            f"blocks.{i}.feed_forward.weight": (d_model, d_model),
        }
    shapes["output.weight"] = (vocab_size, d_model)
    return draw.weights(**shapes) | {"heads": torch.tensor((heads, groups))}
