"""Make a case's inputs smaller, so that a student can follow the case by eye.

Each step shrinks them in one way, and the caller tries the result on solutions
(delta debugging: Zeller and Hildebrandt 2002, "Simplifying and isolating
failure-inducing input").
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import torch

from autograder.checks.exercise import Answers, Value
from autograder.checks.probes.default import CALL

_FEW = 8  # items; among so many, each one is left out or made smaller in turn
_LEVELS = 4  # levels of nested lists in which something is made smaller
_SEPARATORS = (";", ", ")  # between the parts of a text
_PAIR = 2  # items; an inner list of so many, like a merge of BPE, is kept as it is


def smaller_inputs(inputs: Answers) -> Iterator[dict[str, Value]]:
    """Yield inputs that are smaller in one way each, the boldest cuts first."""
    yield from _cut_sizes(inputs)
    yield from _cut_lists(inputs)
    for level in range(_LEVELS):
        for name, value in inputs.items():
            # Not an input, but how the object is called.
            if name != CALL:
                for smaller in _smaller_values(value, level):
                    yield {**inputs, name: smaller}


def _cut_lists(inputs: Answers) -> Iterator[dict[str, Value]]:
    """Cut all lists of the same length, given as JSON, at the same positions."""
    lists: dict[int, dict[str, list[Any]]] = {}
    for name, value in inputs.items():
        data = _read_data(value)
        if isinstance(data, list) and len(data) > 1:
            lists.setdefault(len(data), {})[name] = data
    # A list that has no other of its length is cut elsewhere, by `_smaller_values`.
    for length, named in lists.items():
        for indices in _cuts(length, least=1) if len(named) > 1 else ():
            cut = {n: json.dumps([d[i] for i in indices]) for n, d in named.items()}
            yield {**inputs, **cut}


def _read_data(value: Value) -> Any:
    """Parse a text as JSON; None for other values, and for text that is not JSON."""
    try:
        return json.loads(value) if isinstance(value, str) else None
    except ValueError:
        return None


def _cut_sizes(inputs: Answers) -> Iterator[dict[str, Value]]:
    """Reduce a size wherever it occurs: in all tensors, and as a separate number."""
    tensors = {n: v for n, v in inputs.items() if isinstance(v, torch.Tensor)}
    sizes = {size for tensor in tensors.values() for size in tensor.shape}
    for size in sorted(sizes - {0, 1}, reverse=True):
        for indices in _cuts(size, least=1):
            cut = {
                name: _cut(tensor, size, indices) for name, tensor in tensors.items()
            }
            numbers = {
                name: torch.tensor(len(indices))
                for name, tensor in tensors.items()
                if not tensor.dim() and tensor.dtype == torch.int64 and tensor == size
            }
            # An equal number may state the size, or be equal by chance: try both.
            if numbers:
                yield {**inputs, **cut, **numbers}
            yield {**inputs, **cut}


def _cut(tensor: torch.Tensor, size: int, indices: list[int]) -> torch.Tensor:
    """Select ``indices`` in every dimension of a tensor whose length is ``size``."""
    for dim, length in enumerate(tensor.shape):
        if length == size:
            tensor = tensor.index_select(dim, torch.tensor(indices, dtype=torch.int64))
    return tensor


def _cuts(length: int, least: int = 0) -> Iterator[list[int]]:
    """Yield lists of at least ``least`` indices to keep: halves, then all but one."""
    all_indices = list(range(length))
    if length // 2 >= max(least, 1):
        yield all_indices[: length // 2]
        yield all_indices[length // 2 :]
    if length > least:
        for index in reversed(all_indices) if length <= _FEW else (length - 1, 0):
            yield [i for i in all_indices if i != index]


def _smaller_values(value: Value, level: int) -> Iterator[Value]:
    """Yield values that are smaller at one level of nested lists, 0 being outermost."""
    if isinstance(value, str):
        if (data := _read_data(value)) is not None:
            yield from map(json.dumps, _smaller_data(data, level))
        elif not level:
            yield from _fewer_parts(value)
    elif isinstance(value, torch.Tensor) and not level:
        yield from _smaller_tensors(value)


def _smaller_tensors(value: torch.Tensor) -> Iterator[torch.Tensor]:
    """Yield tensors of the same shape with smaller integers or more rounded floats."""
    if value.is_floating_point():
        for steps in (1, 4):
            rounded = (value * steps).round() / steps + 0.0  # no -0.0
            if not torch.equal(rounded, value):
                yield rounded
    elif value.dtype == torch.int64 and value.numel() <= _FEW:
        for index, entry in enumerate(value.flatten().tolist()):
            for smaller in _smaller_numbers(entry):
                entries = value.flatten().clone()
                entries[index] = smaller
                yield entries.view(value.shape)


def _smaller_numbers(number: int) -> Iterator[int]:
    """Yield smaller positive numbers: 1, the half, and one less."""
    yield from (
        n for n in dict.fromkeys((1, number // 2, number - 1)) if 0 < n < number
    )


def _fewer_parts(text: str) -> Iterator[str]:
    """Yield a text with fewer parts between separators, or with one part shortened."""
    separators = (*_SEPARATORS, " ") if _is_of_numbers(text) else _SEPARATORS
    separator = next((s for s in separators if s in text), "")
    parts = text.split(separator) if separator else []
    for indices in _cuts(len(parts), least=1):
        yield separator.join(parts[index] for index in indices)
    for index, part in enumerate(parts):
        for smaller in _fewer_parts(part) if separator != " " else ():
            yield separator.join([*parts[:index], smaller, *parts[index + 1 :]])


def _is_of_numbers(text: str) -> bool:
    """Whether a text consists of integers, between spaces and semicolons."""
    return all(part.isdecimal() for part in text.replace(";", " ").split())


def _smaller_data(data: Any, level: int) -> Iterator[Any]:
    """Yield JSON data that are smaller at one level of nested lists and objects."""
    if level and isinstance(data, list):
        for index, item in enumerate(data):
            # Pairs such as merges of BPE make no sense with one item.
            is_pair = level == 1 and isinstance(item, list) and len(item) == _PAIR
            for smaller in _smaller_data(item, level - 1) if not is_pair else ():
                yield [*data[:index], smaller, *data[index + 1 :]]
    elif level and isinstance(data, dict):
        for key, item in data.items():
            for smaller in _smaller_data(item, level - 1):
                yield {**data, key: smaller}
    elif isinstance(data, list) and not level:
        for indices in _cuts(len(data)):
            yield [data[index] for index in indices]
    elif isinstance(data, dict) and not level:
        for indices in _cuts(len(data)):
            yield dict([*data.items()][index] for index in indices)
    elif isinstance(data, str) and not level:
        separator = " " if " " in data else ""
        parts = data.split() if separator else list(data)
        for indices in _cuts(len(parts), least=1):
            yield separator.join(parts[index] for index in indices)
    elif type(data) is int and not level:
        yield from _smaller_numbers(data)
