"""To PyTorch's own layer."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from autograder.checks.exercise import WrongAnswerError
from autograder.checks.probes import Inputs, Seen, describe, probe, tensor
from autograder.units.multi_head_attention.probes.observing import (
    after_learning,
    projections,
)


@probe(
    "multi_head_attention/to_pytorch",
    results="num_heads; output",
    calls="second call, of a layer that has changed since; "
    "yours is in training mode afterwards; "
    "* of yours when theirs has changed afterwards",
    learning="parameters of theirs that train; "
    "parameters of yours that train afterwards",
    mode="in training mode",
    parts={"weights": "weights", "in_proj_bias": "in_proj_bias"},
)
def to_pytorch(function: Any, inputs: Inputs) -> Seen:
    """What the new layer is and computes, and whether it is a copy."""
    mine = projections(inputs, "weights.", "qkvo")
    mine.num_heads = int(inputs["num_heads"])
    # Nobody has promised what it is called.
    setattr(mine, "drop" if mine.num_heads == 4 else "dropout", nn.Dropout(0.25))
    theirs = function(mine)
    if not isinstance(theirs, nn.MultiheadAttention):
        raise WrongAnswerError(
            f"expected an nn.MultiheadAttention, got {describe(theirs)}"
        )
    theirs.eval()
    sequences = [inputs[name] for name in ("query", "key", "value")]
    seen = {
        "num_heads": torch.tensor(theirs.num_heads),
        "in training mode": f"{theirs.dropout:.2f} of the weights are dropped",
        "yours is in training mode afterwards": torch.tensor(mine.training),
        "parameters of theirs that train": torch.tensor(
            sum(p.requires_grad for p in theirs.parameters())
        ),
        "parameters of yours that train afterwards": torch.tensor(
            sum(p.requires_grad for p in mine.parameters())
        ),
    }
    with torch.no_grad():
        # Whatever the keys' bias is, a softmax does not mind: look at it itself.
        seen["in_proj_bias"] = theirs.in_proj_bias.clone()
        seen["second call, of a layer that has changed since"] = after_learning(
            lambda: function(mine), mine
        )
        output, weights = theirs(*sequences, average_attn_weights=False)
        for parameter in theirs.parameters():
            parameter.add_(1)
    seen |= {"output": output, "weights": weights}
    return seen | {
        f"{name} of yours when theirs has changed afterwards": parameter
        for name, parameter in mine.named_parameters()
    }


@probe(
    "multi_head_attention/pytorch_mask",
    results="mask",
    calls="* afterwards",
    parts={"weights": "weights of nn.MultiheadAttention"},
)
def pytorch_mask(function: Any, inputs: Inputs) -> Seen:
    """The mask, what PyTorch's layer does with it, and the given mask afterwards."""
    size = tuple(inputs["size"].tolist())
    found = tensor(function(inputs["mask"], size), "the mask")
    return {
        "mask": found,
        "weights of nn.MultiheadAttention": _masked_weights(found, size, inputs),
        "mask afterwards": inputs["mask"],
    }


def _masked_weights(
    mask: torch.Tensor, size: tuple[int, ...], inputs: Inputs
) -> torch.Tensor:
    """(B, h, Lq, Lk): each head of PyTorch's layer sees features of its own."""
    query, key = inputs["query"], inputs["key"]
    layer = nn.MultiheadAttention(query.size(-1), size[1], batch_first=True).eval()
    with torch.no_grad():
        layer.in_proj_weight.copy_(torch.eye(query.size(-1)).repeat(3, 1))
        layer.in_proj_bias.zero_()
        try:
            seen: torch.Tensor = layer(
                query, key, key, attn_mask=mask, average_attn_weights=False
            )[1]
            return seen
        except (RuntimeError, AssertionError) as error:
            raise WrongAnswerError(
                f"nn.MultiheadAttention refuses your mask of shape {tuple(mask.shape)} "
                f"and type {mask.dtype}: {str(error).splitlines()[0]}"
            ) from None
