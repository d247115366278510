"""What is tried on an object whose exercise brings no probe of its own.

A function is called with its inputs. A class is created from the inputs named
``make.NAME``, gets the weights named ``weights.NAME``, and is then called. Reported are
the results, the arguments afterwards, and the gradients of all results together.

The input ``call`` says in JSON how: the order of the arguments, the names of results,
the arguments that are NumPy's, those that are tensors even without dimensions, the
dtype and which arguments have it, the numbers that a module has as attributes, and
whether gradients are asked for. The build writes it from the signature of the exercise
(authoring/sizes.py).
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
ATTRIBUTE = "attribute "  # before the name of a number that a module holds
MAKE = "make."  # before the name of an argument that creates a module


def observe_call(answer: Any, inputs: Inputs) -> Seen:
    """Report one call: all that the usual probe reports.

    A written probe may add to it what only its exercise needs.
    """
    call = json.loads(inputs[CALL])
    arguments = read_arguments(inputs)
    observations: Seen = {}
    if "module" in call:
        module = create_module(answer, inputs)
        observations |= beginning(module, inputs)
        answer = load_weights(module, inputs)
        observations["parameters"] = parameter_shapes(answer)
        observations |= _read_numbers(answer, call.get("numbers", ()))
        if "dtype" in call:
            answer = answer.to(getattr(torch, call["dtype"]))
    results = _read_results(_call(answer, call["order"], arguments), call["results"])
    afterwards = {
        f"{name} afterwards": _convert(_read_tensor(value, name))
        for name, value in arguments.items()
        if isinstance(value, torch.Tensor | np.ndarray)
        and name not in call.get("cast", ())  # it is a copy of the input
    }
    if "dtype" in call:
        observations |= {f"type of {n}": str(v.dtype) for n, v in results.items()}
        results = {name: _convert(value) for name, value in results.items()}
    observations |= results | afterwards
    if call.get("gradients"):
        observations |= _gradients(answer, arguments, call)
    return observations


def _read_numbers(module: Any, names: Sequence[str]) -> Seen:
    """The numbers that a module has as attributes, as text."""
    numbers = {name: str(getattr(module, name, None)) for name in names}
    return {
        f"{ATTRIBUTE}{name}": value.removesuffix(".0")
        for name, value in numbers.items()
    }


def read_arguments(inputs: Inputs) -> Seen:
    """Read the arguments of the call from a case's inputs, by name, as it gets them."""
    call = json.loads(inputs[CALL])
    dtypes = dict.fromkeys(call.get("cast", ()), call.get("dtype"))
    arrays, tensors = call.get("arrays", ()), call.get("tensors", ())
    return {
        name: _argument(value, dtypes.get(name), name in arrays, name in tensors)
        for name, value in inputs.items()
        if name != CALL and not name.startswith((MAKE, WEIGHTS))
    }


def call_with_inputs(answer: Any, inputs: Inputs) -> Seen:
    """Call an object with the arguments of a case, and report its results by name."""
    call = json.loads(inputs[CALL])
    return _read_results(
        _call(answer, call["order"], read_arguments(inputs)), call["results"]
    )


def create_module(module_class: Any, inputs: Inputs) -> Any:
    """Create a module with the options that a case's inputs name ``make.NAME``."""
    values = under(inputs, MAKE)
    options = {name: _argument(value) for name, value in values.items()}
    return _call(module_class, json.loads(inputs[CALL])["module"], options)


def _argument(
    value: Any,
    dtype: str | None = None,
    as_array: bool = False,
    as_tensor: bool = False,
) -> Any:
    """An input as the call gets it: a tensor without dimensions is a Python number.

    With ``as_tensor``, it stays a tensor.
    """
    if not isinstance(value, torch.Tensor):
        return value
    if as_array:
        return (value.double() if value.is_floating_point() else value).numpy().copy()
    if not value.dim() and not as_tensor:
        return value.item()
    return value.to(getattr(torch, dtype)) if dtype else value


def _convert(value: torch.Tensor) -> torch.Tensor:
    """A tensor of floats in the dtype in which answers are compared."""
    return value.to(torch.get_default_dtype()) if value.is_floating_point() else value


def _call(function: Any, order: Sequence[str], values: Mapping[str, Any]) -> Any:
    """Pass arguments by position up to the first that is left out, then by name.

    So a student may call them otherwise than the stub does.
    """
    first = next((i for i, name in enumerate(order) if name not in values), len(order))
    by_name = {name: values[name] for name in order[first:] if name in values}
    return function(*(values[name] for name in order[:first]), **by_name)


def _read_results(result: object, names: Sequence[str]) -> Seen:
    results = (result,) if len(names) == 1 else returned(result, *names)
    return {
        name: _read_tensor(value, name)
        for name, value in zip(names, results, strict=True)
    }


def _read_tensor(value: object, name: str) -> torch.Tensor:
    """A tensor on the CPU; numbers and NumPy's arrays become tensors, of float32.

    Raises:
        WrongAnswerError: it is something else.
    """
    if isinstance(value, np.ndarray | np.generic | float | int):
        numbers = torch.as_tensor(np.array(value))
        return numbers.float() if numbers.is_floating_point() else numbers
    if not isinstance(value, torch.Tensor):
        raise WrongAnswerError(f"expected {name} to be a tensor, got {describe(value)}")
    return value if value.device.type in ("cpu", "meta") else value.to("cpu")


def _gradients(answer: Any, arguments: Mapping[str, Any], call: Seen) -> Seen:
    """The gradients of a weighted sum of all results, by argument.

    An argument without a path to the results has the gradient zero.
    """
    leaves = {
        name: value.clone().requires_grad_()
        for name, value in arguments.items()
        if isinstance(value, torch.Tensor) and value.is_floating_point()
    }
    if not leaves:
        return {}
    # Copies, since a leaf could not be changed in place: that is reported elsewhere.
    copies = {name: leaf.clone() for name, leaf in leaves.items()}
    output = _call(answer, call["order"], {**arguments, **copies})
    results = _read_results(output, call["results"])
    sums = [_weighted_sum(v) for v in results.values() if v.requires_grad]
    gradients: Sequence[torch.Tensor | None] = [None] * len(leaves)
    if sums:
        total = torch.stack(sums).sum()
        inputs = [*leaves.values()]
        try:
            gradients = torch.autograd.grad(total, inputs, allow_unused=True)
        except RuntimeError as error:  # what it needs was changed in place
            return {f"gradient of {name}": type(error).__name__ for name in leaves}
    return {
        f"gradient of {name}": _convert(
            torch.zeros_like(leaf) if grad is None else grad
        )
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
    observe_call,
    reports={
        "form": (f"{ATTRIBUTE}*", "type of *"),
        "calls": ("* afterwards",),
        "gradients": ("gradient of *",),
        "learning": ("parameters", *BEGINNING.split("; ")),
    },
)
