"""Modules of several heads."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import torch
from torch import nn

from autograder.checks.probes import (
    Inputs,
    Seen,
    gradients,
    moving,
    outcome,
    probe,
    returned,
    tensor,
)
from autograder.checks.probes.weights import (
    BEGINNING,
    beginning,
    load_weights,
    parameter_shapes,
)


@probe(
    "multi_head_attention/list_of_heads",
    results="output; who sees whom",
    calls="output, second call; * afterwards",
    learning=f"{BEGINNING}; parameters; gradient of *",
    parts={"weights": "weights"},
)
def list_of_heads(module_class: Any, inputs: Inputs) -> Seen:
    """Report parameters, results, who sees whom, x afterwards, and a gradient."""
    d_k, d_model = inputs["weights.heads.0.w_q.weight"].shape
    d_v = len(inputs["weights.heads.0.w_v.bias"])
    d_out, width = inputs["weights.w_o.weight"].shape
    module = module_class(d_model, width // d_v, d_k, d_v, d_out)
    observations = beginning(module, inputs)
    return observations | _observe(load_weights(module, inputs), ["x"], inputs)


@probe(
    "multi_head_attention/multi_head_attention",
    results="output; who sees whom; * heads of * features; output in eval mode; "
    "eval mode gives the same twice; * factor on a weight in training; "
    "weights with another factor than these; most weights are kept; "
    "a weight is dropped for all features; dropped alike *; "
    "training gives the same twice",
    calls="output, second call; * afterwards",
    learning=f"{BEGINNING}; parameters; gradient of *",
    parts={"weights": "weights"},
)
def multi_head_attention(module_class: Any, inputs: Inputs) -> Seen:
    """Report parameters, results, who sees whom, inputs, gradients; or dropout."""
    if "refuse" in inputs:
        return {
            f"{count} heads of {size} features": outcome(
                partial(module_class, size, count), ValueError
            )
            for size, count in inputs["refuse"].tolist()
        }
    d_model, num_heads = len(inputs["weights.w_q.bias"]), int(inputs["num_heads"])
    rates = [float(inputs["rate"])] if "rate" in inputs else []
    new_module = module_class(d_model, num_heads, *rates)
    observations = beginning(new_module, inputs)
    module = load_weights(new_module, inputs)
    if rates and "mask" not in inputs:
        return _dropout(module, rates[0], num_heads, inputs)
    return observations | _observe(module, ["query", "key", "value"], inputs)


def _dropout(module: nn.Module, rate: float, num_heads: int, inputs: Inputs) -> Seen:
    """Report what training mode does to the attention weights.

    The inputs are such that each head's output holds its weights, twice: dropping a
    weight takes both copies, dropping an output takes one of them. Which weights are
    dropped is chance and not reported, only what is true of every choice.
    """

    def run() -> torch.Tensor:  # (B, Lq, h, 2, Lk)
        sequences = [inputs[name] for name in ("query", "key", "value")]
        output = tensor(returned(module(*sequences), "output", "weights")[0], "output")
        split: torch.Tensor = output.unflatten(-1, (num_heads, 2, -1))
        return split

    with torch.no_grad():
        calm, calm_again = run(), run()
        module.train()
        wild, wild_again = run(), run()
    factors = wild / calm.where(calm != 0, 1.0)  # calm is 0 if eval mode drops
    scale = 1 / (1 - rate)
    between = ((factors.abs() > 1e-3) & ((factors - scale).abs() > 1e-3)).sum()
    first, second = factors.round(decimals=3).unbind(3)  # (B, Lq, h, Lk) each
    return {
        "output in eval mode": calm.flatten(2),
        "eval mode gives the same twice": _are_same(calm, calm_again),
        "smallest factor on a weight in training": factors.min(),
        "largest factor on a weight in training": factors.max(),
        "weights with another factor than these": between,
        "most weights are kept": (factors > scale / 2).double().mean() > 0.5,
        "a weight is dropped for all features": _are_same(first, second),
        "dropped alike in all heads": _are_same(first, first[:, :, :1]),
        "dropped alike for all queries": _are_same(first, first[:, :1]),
        "dropped alike for all keys": _are_same(first, first[..., :1]),
        "dropped alike in all sentences": _are_same(first, first[:1]),
        "training gives the same twice": _are_same(wild, wild_again),
    }


def _are_same(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return (a == b).all()


def _observe(module: nn.Module, names: Sequence[str], inputs: Inputs) -> Seen:
    """Report what a module makes of its sequences; the last one provides the keys."""
    sequences, mask = [inputs[name] for name in names], inputs.get("mask")

    def call(*sequences: torch.Tensor) -> Seen:
        output, weights = returned(module(*sequences, mask), "output", "weights")
        return {
            "output": tensor(output, "output"),
            "weights": tensor(weights, "the weights"),
        }

    observations: Seen = {"parameters": parameter_shapes(module)}
    results = call(*sequences)
    if mask is not None:
        # Before the output: of the wrong answers, the panel draws the first.
        # Key and value change together; an x is all three.
        observations["who sees whom"] = moving.who_sees_whom(
            lambda *sequences: call(*sequences)["output"], sequences, pushed=2
        )
        observations["mask afterwards"] = mask
    observations |= results | {"output, second call": call(*sequences)["output"]}
    observations |= {f"{name} afterwards": inputs[name] for name in names}
    return observations | gradients(
        lambda *s: call(*s)["output"], sequences, names, inputs
    )
