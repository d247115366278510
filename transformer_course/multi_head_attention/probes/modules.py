"""The probe of the multi-head attention module: it calls a student's class.

It reports a call, the effect of dropout, or which numbers of heads are refused.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import torch

from autograder.checks.probes import Inputs, Seen, outcome, probe, returned, tensor
from autograder.checks.probes.default import create_module, observe_call
from autograder.checks.probes.weights import INITIALISATION, load_weights


@probe(
    "multi_head_attention/multi_head_attention",
    results="output; * heads of * features; output in eval mode; "
    "eval mode gives the same twice; * factor on a weight in training; "
    "weights with another factor than these; most weights are kept; "
    "a weight is dropped for all features; dropped alike *; "
    "training gives the same twice",
    calls="* afterwards",
    learning=f"{INITIALISATION}; parameters",
    parts={"weights": "weights"},
)
def multi_head_attention(module_class: Any, inputs: Inputs) -> Seen:
    """Report a call, the effect of dropout in training, or which sizes are refused.

    The names of the inputs decide which of these is reported.
    """
    if "refuse" in inputs:
        return {
            f"{count} heads of {size} features": outcome(
                partial(module_class, size, count), ValueError
            )
            for size, count in inputs["refuse"].tolist()
        }
    if "make.dropout" in inputs and "mask" not in inputs:
        return _observe_dropout(module_class, inputs)
    return observe_call(module_class, inputs)


def _observe_dropout(module_class: Any, inputs: Inputs) -> Seen:
    """Report how training mode changes the attention weights.

    Each weight appears twice in the output, which tells a dropped weight from a
    dropped output. Only what holds for every random choice is reported.
    """
    num_heads, rate = int(inputs["make.num_heads"]), float(inputs["make.dropout"])
    identity = torch.eye(inputs["query"].size(-1))
    visible = {f"weights.{name}.weight": identity for name in ("w_v", "w_o")}
    visible |= {f"weights.{n}.bias": torch.zeros(len(identity)) for n in ("w_v", "w_o")}
    module = load_weights(create_module(module_class, inputs), {**inputs, **visible})

    def run() -> torch.Tensor:  # (B, Lq, h, 2, Lk)
        sequences = [inputs[name] for name in ("query", "key", "value")]
        output = tensor(returned(module(*sequences), "output", "weights")[0], "output")
        split: torch.Tensor = output.unflatten(-1, (num_heads, 2, -1))
        return split

    with torch.no_grad():
        in_eval, eval_again = run(), run()
        module.train()
        in_training, training_again = run(), run()
    factors = in_training / in_eval.where(in_eval != 0, 1.0)  # 0 if eval mode drops
    scale = 1 / (1 - rate)
    between = ((factors.abs() > 1e-3) & ((factors - scale).abs() > 1e-3)).sum()
    first, second = factors.round(decimals=3).unbind(3)  # (B, Lq, h, Lk) each
    return {
        "output in eval mode": in_eval.flatten(2),
        "eval mode gives the same twice": _are_same(in_eval, eval_again),
        "smallest factor on a weight in training": factors.min(),
        "largest factor on a weight in training": factors.max(),
        "weights with another factor than these": between,
        "most weights are kept": (factors > scale / 2).double().mean() > 0.5,
        "a weight is dropped for all features": _are_same(first, second),
        "dropped alike in all heads": _are_same(first, first[:, :, :1]),
        "dropped alike for all queries": _are_same(first, first[:, :1]),
        "dropped alike for all keys": _are_same(first, first[..., :1]),
        "dropped alike in all sentences": _are_same(first, first[:1]),
        "training gives the same twice": _are_same(in_training, training_again),
    }


def _are_same(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Return as a tensor () whether two tensors are equal after broadcasting."""
    return (a == b).all()
