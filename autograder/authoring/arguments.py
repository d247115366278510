"""Draw random arguments for a call, in the sizes that a case states."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch

from autograder.authoring.draw import Draw
from autograder.authoring.inputs import open_mask
from autograder.authoring.shapes import Parameter, evaluate
from autograder.authoring.specification import InputSizes


def draw_value(parameter: Parameter, sizes: InputSizes, draw: Draw) -> Any:
    """Draw a value for one parameter of a call, or take the one that the case states.

    Returns:
        A tensor, or the value that the case states; None to leave the argument out.

    Raises:
        KeyError: the case lacks the value, a size, or a bound for integers.
    """
    value = sizes.values.get(parameter.name)
    if callable(value):
        value = _call_with_sizes(value, draw, sizes)
    # For a tensor, a text is the shape to draw, such as "B 1 Lk".
    if isinstance(value, str) and parameter.kind:
        return _draw_tensor(parameter, value.split(), sizes, draw)
    # Inputs are tensors or texts, so a number is stored as a tensor.
    if isinstance(value, bool | int | float):
        is_float = isinstance(value, float)
        return torch.tensor(value, dtype=torch.float64 if is_float else None)
    if value is not None or parameter.name in sizes.values:
        return value
    if parameter.optional or parameter.default is not None:
        return None
    if not parameter.kind:
        raise KeyError(parameter.name)
    # Of the allowed shapes, the last one has the most dimensions.
    return _draw_tensor(parameter, parameter.shapes[-1], sizes, draw)


def _call_with_sizes(
    function: Callable[..., Any], draw: Draw, sizes: InputSizes
) -> Any:
    """Call a case's function that draws an argument, like ``lambda draw, B, L: ...``.

    It receives the Draw, and the sizes that its other parameters name.
    """
    names = list(inspect.signature(function).parameters)[1:]
    values = {name: sizes.values[name] for name in names if name in sizes.values}
    return function(draw, **values)


def _draw_tensor(
    parameter: Parameter, shape: Sequence[str], sizes: InputSizes, draw: Draw
) -> torch.Tensor:
    """Draw a tensor of the parameter's dtype; ``shape`` holds names of dimensions.

    ``*name`` stands for any number of dimensions. Each row of a boolean tensor
    holds a True and a False, if it can.
    """
    values: Mapping[str, Any] = sizes.values
    concrete: list[int] = []
    for dimension in shape:
        if dimension.startswith("*"):
            concrete += values.get(dimension[1:], ())
        else:
            concrete.append(evaluate(dimension, values))
    if parameter.kind == "Bool":
        return open_mask(draw, *concrete) if concrete[-1] > 1 else draw.flags(*concrete)
    if parameter.kind == "Int":
        # Without a bound, the KeyError names what the case lacks: "below".
        return draw.ids(0, sizes.below or values["below"], *concrete)
    return draw.tensor(*concrete, scale=sizes.scale)


def is_float32(value: Any) -> bool:
    """Whether a value is a float32 tensor with at least one dimension."""
    is_tensor = isinstance(value, torch.Tensor) and value.dim() > 0
    return is_tensor and value.dtype == torch.float32


def is_number(value: Any) -> bool:
    """Whether a value is a tensor with zero dimensions."""
    return isinstance(value, torch.Tensor) and not value.dim()
