"""Questions that are asked early: what a test is expected to ask next.

A test asks every layer for the same outputs, since it gets the same random numbers for
each. To ask for one takes longer than to compute it; so what has followed a question
before is asked for together with it: pairs of one form in a row are one question, of
which x and memory are stacked.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from typing import TypeGuard, TypeVar

import torch

from autograder.checks.exercise import plain

K = TypeVar("K")
V = TypeVar("V")
Pair = tuple[torch.Tensor, torch.Tensor]  # x and memory
Key = tuple[object, ...]
# What a test asked next, after the two questions before it.
Follows = dict[tuple[Key, Key], tuple[Key, Pair]]

MOST_AHEAD = 32  # that go with one question
_MOST_KEPT = 1 << 10  # pairs that are remembered
_FLOATS = (torch.float32, torch.float64)
MOST_EARLY_NUMBERS = 1 << 9  # of a sequence that is asked for early


def numbered(place: int) -> str:
    """The suffix of the names of a group that is requested ahead of time."""
    return f".{place}"


def form_of(pair: Pair) -> Key:
    """Types and shapes: pairs of one form can be stacked."""
    return tuple((value.dtype, value.shape) for value in pair)


class Ahead:
    """Requests one layer's outputs, ahead of time where possible, and caches them.

    The more of its questions were expected, the more are asked early: a wrong layer is
    soon done with.
    """

    def __init__(
        self, follows: Follows, call: Callable[..., Mapping[str, torch.Tensor]]
    ):
        self._follows, self._call = follows, call
        self._known: dict[Key, torch.Tensor] = {}
        self._before: tuple[Key, Key] = ((), ())
        self._far = 4

    def __call__(self, x: torch.Tensor, memory: torch.Tensor) -> torch.Tensor:
        """The output for these sequences."""
        pair = (plain(x), plain(memory))
        if not _is_usual(pair):
            return self._call(x=x, memory=memory)["output"]  # an error: what they are
        key = key_of(pair)
        if all(value.numel() <= MOST_EARLY_NUMBERS for value in pair):
            _keep(self._follows, self._before, (key, pair))
        self._before = (self._before[1], key)
        if key not in self._known:
            self._learn(key, pair)
        return self._known[key].clone()

    def _learn(self, key: Key, pair: Pair) -> None:
        """Ask for an output, and early for those that are expected to follow."""
        names = ("x", "memory")
        question = dict(zip(names, pair, strict=True))
        early = self._expected()
        by_form = itertools.groupby(early, lambda pair_key: form_of(early[pair_key]))
        groups = [list(keys) for _, keys in by_form]
        for place, keys in enumerate(groups):
            pairs = (early[pair_key] for pair_key in keys)
            stacks = map(torch.stack, zip(*pairs, strict=True))
            named = (f"{name}{numbered(place)}" for name in names)
            question |= dict(zip(named, stacks, strict=True))
        outputs = self._call(**question)
        _keep(self._known, key, outputs["output"])
        for place, keys in enumerate(groups):
            if (name := f"output{numbered(place)}") in outputs:
                self._known |= dict(zip(keys, outputs[name], strict=True))
        self._far = min(2 * self._far, MOST_AHEAD)

    def _expected(self) -> dict[Key, Pair]:
        """Return the expected questions that have no answer yet, in their order."""
        expected: dict[Key, Pair] = {}
        before = self._before
        for _ in range(4 * self._far):  # some of what follows may be known
            following = self._follows.get(before)
            if following is None or len(expected) == self._far:
                break
            key, pair = following
            if key not in self._known and key != self._before[1]:
                expected[key] = pair
            before = (before[1], key)
        return expected


def _keep(cache: dict[K, V], key: K, value: V) -> None:
    """Store a value in a cache; clear the cache first if it is full."""
    if len(cache) >= _MOST_KEPT:
        cache.clear()
    cache[key] = value


def key_of(pair: Pair) -> Key:
    """What tells two pairs apart: types, shapes and numbers."""
    return tuple((value.dtype, value.shape, value.numpy().tobytes()) for value in pair)


def _is_usual(pair: tuple[object, object]) -> TypeGuard[Pair]:
    """Whether these are tensors of numbers that a layer takes."""
    return all(isinstance(v, torch.Tensor) and v.dtype in _FLOATS for v in pair)
