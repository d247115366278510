"""What is tried on an object whose exercise brings no probe of its own.

A function is called with its inputs by name. A class is created from the inputs named
``make.NAME``, gets the weights named ``weights.NAME``, and is then called. Reported are
the results, the arguments afterwards, and the gradients of all results together.

The input ``call`` says in JSON what the results are named, and whether gradients are
asked for; the build writes it from the signature of the exercise.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch

from autograder.checks.exercise import WrongAnswerError
from autograder.checks.probes import (
    OWN,
    Inputs,
    Probe,
    Seen,
    describe,
    returned,
    under,
)
from autograder.checks.probes.weights import (
    BEGINNING,
    WEIGHTS,
    beginning,
    load_weights,
    parameter_shapes,
)

CALL = "call"  # the input that describes the call
MAKE = "make."  # before the name of an argument that creates a module


def _observe(answer: Any, inputs: Inputs) -> Seen:
    call = json.loads(inputs[CALL])
    observations: Seen = {}
    arguments = {
        name: _argument(value, name in call.get("arrays", ()))
        for name, value in inputs.items()
        if name != CALL and not name.startswith((MAKE, WEIGHTS))
    }
    if call.get("module"):
        options = {name: _argument(v) for name, v in under(inputs, MAKE).items()}
        module = answer(**options)
        observations |= beginning(module, inputs)
        answer = load_weights(module, inputs)
        observations["parameters"] = parameter_shapes(answer)
    results = _read_results(answer(**arguments), call["results"])
    observations |= results
    observations |= {
        f"{name} afterwards": _read_tensor(value, name)
        for name, value in arguments.items()
        if isinstance(value, torch.Tensor | np.ndarray)
    }
    if call.get("gradients"):
        observations |= _gradients(answer, arguments, call["results"])
    return observations


def _argument(value: Any, as_array: bool = False) -> Any:
    """An input as the call gets it: a tensor without dimensions is a Python number."""
    if not isinstance(value, torch.Tensor):
        return value
    if as_array:
        return value.numpy().copy()
    return value if value.dim() else value.item()


def _read_results(result: object, names: Sequence[str]) -> Seen:
    results = (result,) if len(names) == 1 else returned(result, *names)
    return {
        name: _read_tensor(value, name)
        for name, value in zip(names, results, strict=True)
    }


def _read_tensor(value: object, name: str) -> torch.Tensor:
    """A tensor on the CPU; numbers and NumPy's arrays become tensors.

    Raises:
        WrongAnswerError: it is something else.
    """
    if isinstance(value, np.ndarray | np.generic | float | int):
        return torch.as_tensor(np.array(value))
    if not isinstance(value, torch.Tensor):
        raise WrongAnswerError(
            f"expected {name} to be a tensor, got {describe(value)}"
        )
    return value if value.device.type in ("cpu", "meta") else value.to("cpu")


def _gradients(
    answer: Any, arguments: Mapping[str, Any], names: Sequence[str]
) -> Seen:
    """The gradients of a weighted sum of all results, by argument.

    An argument without a path to the results has the gradient zero.
    """
    leaves = {
        name: value.clone().requires_grad_()
        for name, value in arguments.items()
        if isinstance(value, torch.Tensor) and value.is_floating_point()
    }
    # Copies, since a leaf could not be changed in place: that is reported elsewhere.
    copies = {name: leaf.clone() for name, leaf in leaves.items()}
    results = _read_results(answer(**{**arguments, **copies}), names)
    sums = [_weighted_sum(v) for v in results.values() if v.requires_grad]
    gradients: Sequence[torch.Tensor | None] = [None] * len(leaves)
    if sums and leaves:
        total = torch.stack(sums).sum()
        gradients = torch.autograd.grad(total, [*leaves.values()], allow_unused=True)
    return {
        f"gradient of {name}": torch.zeros_like(leaf) if grad is None else grad
        for (name, leaf), grad in zip(leaves.items(), gradients, strict=True)
    }


def _weighted_sum(value: torch.Tensor) -> torch.Tensor:
    places = torch.arange(1, value.numel() + 1, dtype=value.dtype)
    return (value.flatten() * places.cos()).sum()


class _DefaultProbe(Probe):
    """Whatever it reports beside the usual names is a result."""

    def aspect(self, name: str) -> str:
        try:
            return super().aspect(name)
        except LookupError:
            return OWN


DEFAULT = _DefaultProbe(
    _observe,
    reports={
        "calls": ("* afterwards",),
        "learning": ("gradient of *", "parameters", *BEGINNING.split("; ")),
    },
)
