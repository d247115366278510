"""To PyTorch's own layer."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from autograder.checks.exercise import WrongAnswerError
from autograder.checks.probes import Inputs, Seen, describe, probe
from transformer_course.multi_head_attention.probes.observing import (
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
    """Report what the new layer is and computes, and whether it is a copy."""
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
    observations = {
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
        observations["in_proj_bias"] = theirs.in_proj_bias.clone()
        observations["second call, of a layer that has changed since"] = after_learning(
            lambda: function(mine), mine
        )
        output, weights = theirs(*sequences, average_attn_weights=False)
        for parameter in theirs.parameters():
            parameter.add_(1)
    observations |= {"output": output, "weights": weights}
    return observations | {
        f"{name} of yours when theirs has changed afterwards": parameter
        for name, parameter in mine.named_parameters()
    }
