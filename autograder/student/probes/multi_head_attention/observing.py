"""What the probes of unit 03 hand over and get back: projections, by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from torch import nn

from autograder.student.exercise import WrongAnswer
from autograder.student.probes import Inputs, Seen, describe, tensor

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


def named_tensors(found: object, names: Sequence[str]) -> Seen:
    """The tensors of a dict; the extra names in it, too, since there should be none."""
    if not isinstance(found, Mapping):
        raise WrongAnswer(f"expected a dict of tensors, got {describe(found)}")
    extra = sorted(set(map(str, found)) - set(names))
    seen = {name: tensor(found[name], f"`{name}`") for name in names if name in found}
    return seen | {"other names": ", ".join(extra) or "none"}
