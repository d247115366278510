"""What the probes of unit 03 hand over and get back: projections, by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import nn

from autograder.checks.exercise import WrongAnswerError
from autograder.checks.probes import Inputs, Seen, describe, join_names, tensor

KINDS = ("weight", "bias")


def projections(inputs: Inputs, prefix: str, letters: str) -> Any:
    """A stand-in module whose linear layers ``w_<letter>`` hold the given weights."""
    module = nn.Module()
    for letter in letters:
        weight, bias = (inputs[f"{prefix}w_{letter}.{kind}"] for kind in KINDS)
        layer = nn.Linear(weight.size(1), weight.size(0))
        layer.weight.data, layer.bias.data = weight, bias
        setattr(module, f"w_{letter}", layer)
    return module


def read_tensors(answer: object, names: Sequence[str]) -> Seen:
    """Read the named tensors of a dict; list the other names, usually none."""
    if not isinstance(answer, Mapping):
        raise WrongAnswerError(f"expected a dict of tensors, got {describe(answer)}")
    extra = sorted(set(map(str, answer)) - set(names))
    observations = {
        name: tensor(answer[name], f"`{name}`") for name in names if name in answer
    }
    return observations | {"other names": join_names(extra)}


def after_learning(call: Callable[[], object], module: nn.Module) -> str:
    """Whether a second call uses new weights: "new numbers", or "old numbers" if not.

    All weights change sign in place, as an optimiser would change them, and are
    restored at the end.
    """
    before = _copies(call())
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.neg_()
    try:
        after = _copies(call())
    finally:
        with torch.no_grad():
            for parameter in module.parameters():
                parameter.neg_()
    stale = (
        name in after and bool(old.any()) and torch.equal(old, after[name])
        for name, old in before.items()
        if old.is_floating_point()
    )
    return "old numbers" if any(stale) else "new numbers"


def _copies(container: object) -> dict[str, torch.Tensor]:
    """Copy the tensors of a dict or of a module."""
    if isinstance(container, nn.Module):
        container = dict(container.named_parameters())
    named = container.items() if isinstance(container, Mapping) else ()
    return {n: v.detach().clone() for n, v in named if isinstance(v, torch.Tensor)}


def beyond_float32(numbers: torch.Tensor) -> torch.Tensor:
    """The part of float64 numbers that float32 cannot hold, scaled up to be visible."""
    exact = numbers.double()
    return ((exact - exact.float()) * 2**24).float()
