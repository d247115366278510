"""The probe of a linear layer with LoRA."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from autograder.checks.exercise import WrongAnswerError
from autograder.checks.probes import Inputs, Seen, describe, probe


@probe(
    "assistant/lora_linear",
    results="result; result before training; merged *",
    form="kind of merged",
    calls="* afterwards; base",
    gradients="gradient of *",
    learning="trainable; start of *",
)
def lora_linear(module_class: Callable[..., Any], inputs: Inputs) -> Seen:
    """Report a student's LoRA layer before and after training, and its merged layer.

    To imitate training, the probe sets the layer's parameters `a` and `b`.
    """
    base = _create_base(inputs)
    torch.manual_seed(0)
    layer = module_class(base, int(inputs["rank"]), float(inputs["alpha"]))
    x = inputs["x"].clone().requires_grad_()
    observations: Seen = {
        "trainable": _list_trainable(layer),
        "base": "the same layer" if layer.base is base else "a different layer",
        "start of a": _describe_start(layer.a),
        "start of b": _describe_start(layer.b),
        "result before training": layer(-x),  # x differs from that of later calls
    }
    layer.train("bias" not in inputs)  # the mode must not matter
    with torch.no_grad():
        layer.a.copy_(inputs["a"])
        layer.b.copy_(inputs["b"])
    result = layer(x)
    result.square().sum().backward()
    merged = layer.merged()
    if not isinstance(merged, nn.Linear):
        raise WrongAnswerError(
            f"expected merged() to return an nn.Linear, got {describe(merged)}"
        )
    return observations | {
        "result": result,
        "gradient of x": x.grad,
        "gradient of a": layer.a.grad,
        "gradient of b": layer.b.grad,
        "merged weight": merged.weight,
        "merged result": merged(inputs["x"]),
        "kind of merged": _describe_merged(merged, base),
        "weight afterwards": base.weight,
        "x afterwards": x,
    }


def _create_base(inputs: Inputs) -> nn.Linear:
    """The layer to tune, with the weights of the case."""
    weight, bias = inputs["weight"], inputs.get("bias")
    layer = nn.Linear(weight.size(1), weight.size(0), bias=bias is not None)
    layer.weight = nn.Parameter(weight.clone())
    if bias is not None:
        layer.bias = nn.Parameter(bias.clone())
    return layer


def _list_trainable(layer: nn.Module) -> str:
    """The names and shapes of the parameters that an optimiser would train."""
    return ", ".join(
        f"{name} {tuple(parameter.shape)}"
        for name, parameter in sorted(layer.named_parameters())
        if parameter.requires_grad
    )


def _describe_start(matrix: Tensor) -> str:
    """Describe a matrix as "zeros", "random entries" or "equal entries".

    It counts as random if it has more than two different entries.
    """
    if not matrix.any():
        return "zeros"
    return "random entries" if len(matrix.unique()) > 2 else "equal entries"


def _describe_merged(merged: nn.Linear, base: nn.Linear) -> str:
    """Say whether the merged layer is a new `nn.Linear`, and whether it has a bias."""
    plain = "a plain layer" if type(merged) is nn.Linear else "another class"
    new = "the same layer" if merged is base else plain
    return f"{new}, {'without' if merged.bias is None else 'with'} bias"
