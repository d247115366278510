"""The default probe, for exercises that have no probe of their own.

A function is called with its inputs. A class is instantiated with the inputs
named ``make.NAME``, gets the weights named ``weights.NAME``, and is then
called. Results, arguments after the call, and gradients are reported.

The input ``call`` describes the call in JSON: the ``order`` of the arguments,
the names of the ``results``, and, if needed, the options that make a
``module``, its attributes to report (``numbers``), the arguments that are NumPy
``arrays`` or stay ``tensors`` even without dimensions, a ``dtype`` and the
arguments to ``cast`` to it, and whether to report ``gradients``. The build
writes it (authoring/sizes.py).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch

from autograder.checks.probes import (
    OWN,
    Inputs,
    Probe,
    Seen,
    returned,
    select_by_prefix,
    take_gradients,
    tensor,
)
from autograder.checks.probes.weights import (
    INITIALISATION,
    WEIGHTS,
    load_weights,
    parameter_shapes,
    report_initialisation,
)

CALL = "call"  # the input that describes the call
ATTRIBUTE = "attribute "  # before the name of a number that a module holds
MAKE = "make."  # before the name of an argument that creates a module


def observe_call(answer: Any, inputs: Inputs) -> Seen:
    """Call the object once, and report results, arguments and gradients by name.

    An exercise's own probe may add to this report what only that exercise needs.
    """
    call = json.loads(inputs[CALL])
    arguments = read_arguments(inputs)
    observations: Seen = {}
    if "module" in call:
        module = create_module(answer, inputs)
        observations |= report_initialisation(module, inputs)
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
    """Report the numbers that a module has as attributes of these names, as text.

    2.0 is reported as 2, because either will do.
    """
    numbers = {name: str(getattr(module, name, None)) for name in names}
    return {f"{ATTRIBUTE}{n}": value.removesuffix(".0") for n, value in numbers.items()}


def read_arguments(inputs: Inputs) -> Seen:
    """Convert a case's inputs to the arguments of the call, by name."""
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
    output = _call(answer, call["order"], read_arguments(inputs))
    return _read_results(output, call["results"])


def create_module(module_class: Any, inputs: Inputs) -> Any:
    """Create a module with the options that a case's inputs name ``make.NAME``."""
    values = select_by_prefix(inputs, MAKE)
    options = {name: _argument(value) for name, value in values.items()}
    return _call(module_class, json.loads(inputs[CALL])["module"], options)


def _argument(
    value: Any,
    dtype: str | None = None,
    as_array: bool = False,
    as_tensor: bool = False,
) -> Any:
    """Convert an input to an argument: a tensor without dimensions to a number.

    ``as_tensor`` prevents this; ``as_array`` makes any tensor a NumPy array.
    """
    if not isinstance(value, torch.Tensor):
        return value
    if as_array:
        return (value.double() if value.is_floating_point() else value).numpy().copy()
    if not value.dim() and not as_tensor:
        return value.item()
    return value.to(getattr(torch, dtype)) if dtype else value


def _convert(value: torch.Tensor) -> torch.Tensor:
    """Convert floats to the default dtype, in which answers are compared."""
    return value.to(torch.get_default_dtype()) if value.is_floating_point() else value


def _call(function: Any, order: Sequence[str], values: Mapping[str, Any]) -> Any:
    """Call a function, by position up to the first argument left out, then by name.

    So arguments may have different names in the student's code than in the stub.
    """
    first = next((i for i, name in enumerate(order) if name not in values), len(order))
    by_name = {name: values[name] for name in order[first:] if name in values}
    return function(*(values[name] for name in order[:first]), **by_name)


def _read_results(result: object, names: Sequence[str]) -> Seen:
    """Split a returned value into one tensor for each name."""
    results = (result,) if len(names) == 1 else returned(result, *names)
    pairs = zip(names, results, strict=True)
    return {name: _read_tensor(value, name) for name, value in pairs}


def _read_tensor(value: object, name: str) -> torch.Tensor:
    """A tensor on the CPU; numbers and NumPy arrays become tensors, floats as float32.

    Raises:
        WrongAnswerError: the value is something else.
    """
    if isinstance(value, np.ndarray | np.generic | float | int):
        numbers = torch.as_tensor(np.array(value))
        return numbers.float() if numbers.is_floating_point() else numbers
    return tensor(value, name)


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
    # Copies, since changing a leaf in place is an error; such changes show elsewhere.
    copies = {name: leaf.clone() for name, leaf in leaves.items()}
    output = _call(answer, call["order"], {**arguments, **copies})
    results = _read_results(output, call["results"])
    sums = [_weighted_sum(v) for v in results.values() if v.requires_grad]
    total = torch.stack(sums).sum() if sums else torch.zeros(())
    try:
        gradients = take_gradients(total, leaves)
    except RuntimeError as error:  # a tensor that it needs was changed in place
        return {f"gradient of {name}": type(error).__name__ for name in leaves}
    return {name: _convert(gradient) for name, gradient in gradients.items()}


def _weighted_sum(value: torch.Tensor) -> torch.Tensor:
    """Sum all entries with different weights, so that no gradients cancel out."""
    places = torch.arange(1, value.numel() + 1, dtype=value.dtype)
    return (value.flatten() * places.cos()).sum()


class _DefaultProbe(Probe):
    """The default probe, in which an undeclared answer counts as a result."""

    def aspect(self, name: str) -> str:
        """Return an answer's aspect; `OWN` if it is declared for none."""
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
        "learning": ("parameters", *INITIALISATION.split("; ")),
    },
)
