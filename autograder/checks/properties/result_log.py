"""Notice results that later calls change, although they belong to the caller."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import nn


class ResultLog:
    """Records what a function's calls return, with copies from the time of the call."""

    def __init__(self) -> None:
        self._now: list[object] = []
        self._then: list[tuple[Any, Any]] = []

    def noting(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Wrap a function so that what it returns is noted."""

        @functools.wraps(function)
        def call_and_note(*args: Any, **keywords: Any) -> Any:
            output = function(*args, **keywords)
            if len(self._now) < _MOST:
                self._now.append(output)
            return output

        return call_and_note

    def copy_results(self) -> None:
        """Copy the results noted so far, to compare them after later calls."""
        self._then += [(v, _copy(v)) for output in self._now for v in _parts(output)]
        self._now.clear()

    def describe_changes(self) -> str:
        """Say whether copied results have changed since: "none" or "some" have."""
        is_unchanged = all(_holds(value, original) for value, original in self._then)
        return "none" if is_unchanged else "some"


_MOST = 20  # results that are recorded of one part


def _parts(output: object) -> Iterator[object]:
    """Yield the tensors, lists and dicts in a result; of a module, its weights."""
    if isinstance(output, nn.Module):
        yield from output.parameters()
    if isinstance(output, torch.Tensor | list | dict):
        yield output
    if isinstance(output, tuple | list | dict):
        for part in output.values() if isinstance(output, dict) else output:
            if isinstance(part, torch.Tensor | tuple | list | dict):
                yield from _parts(part)


def _copy(value: Any) -> Any:
    return value.detach().clone() if isinstance(value, torch.Tensor) else value.copy()


def _holds(value: Any, original: Any) -> bool:
    """Return whether a value still has the content of its copy.

    A list or dict must hold the same objects. NaN equals NaN.
    """
    if isinstance(value, torch.Tensor):
        if value.shape != original.shape or value.dtype != original.dtype:
            return False
        if torch.equal(value, original):
            return True
        no_number = (value != value) & (original != original)
        return bool(((value == original) | no_number).all())
    if len(value) != len(original):
        return False
    if isinstance(value, dict):
        return all(n in value and value[n] is old for n, old in original.items())
    return all(new is old for new, old in zip(value, original, strict=True))
