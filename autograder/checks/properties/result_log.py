"""What a function has returned is the caller's: no later call may change it."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import nn


class Kept:
    """What the calls of a function have returned, and what that held at the time."""

    def __init__(self) -> None:
        self._now: list[object] = []
        self._then: list[tuple[Any, Any]] = []

    def noting(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """The function; what it returns is noted."""

        @functools.wraps(function)
        def noted(*args: Any, **keywords: Any) -> Any:
            found = function(*args, **keywords)
            if len(self._now) < _FEW:
                self._now.append(found)
            return found

        return noted

    def look(self) -> None:
        """Note what the results of the calls so far hold; later calls have others."""
        self._then += [(v, _copy(v)) for found in self._now for v in _parts(found)]
        self._now.clear()

    def changed(self) -> str:
        """In words, whether anything holds something else than at the time."""
        same = all(_holds(value, then) for value, then in self._then)
        return "none" if same else "some"


_FEW = 20  # results of one part


def _parts(found: object) -> Iterator[object]:
    """The tensors, lists and dicts that something consists of; a module's weights."""
    if isinstance(found, nn.Module):
        yield from found.parameters()
    if isinstance(found, torch.Tensor | list | dict):
        yield found
    if isinstance(found, tuple | list | dict):
        for part in found.values() if isinstance(found, dict) else found:
            if isinstance(part, torch.Tensor | tuple | list | dict):
                yield from _parts(part)


def _copy(value: Any) -> Any:
    return value.detach().clone() if isinstance(value, torch.Tensor) else value.copy()


def _holds(value: Any, then: Any) -> bool:
    if isinstance(value, torch.Tensor):
        if value.shape != then.shape or value.dtype != then.dtype:
            return False
        if torch.equal(value, then):
            return True
        no_number = (value != value) & (then != then)
        return bool(((value == then) | no_number).all())
    if len(value) != len(then):
        return False
    if isinstance(value, dict):
        return all(n in value and value[n] is old for n, old in then.items())
    return all(new is old for new, old in zip(value, then, strict=True))
