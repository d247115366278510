"""Requests for a layer's outputs before the student's test needs them.

In the bug clinic, layers run in another process, and asking it takes longer
than computing an answer. A test tends to ask every layer for the same outputs.
So a request also asks for those that came next with earlier layers.
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
# For two successive requests of a test, the request that followed them.
Successors = dict[tuple[Key, Key], tuple[Key, Pair]]

MOST_AHEAD = 32  # pairs that one request can include ahead of time
_MOST_KEPT = 1 << 10  # entries in a cache
_FLOATS = (torch.float32, torch.float64)
MOST_EARLY_NUMBERS = 1 << 9  # entries of a sequence that is requested ahead of time


def format_suffix(place: int) -> str:
    """Return the suffix of the names of a group's tensors: ".0" for group 0."""
    return f".{place}"


def read_form(pair: Pair) -> Key:
    """The dtypes and shapes of a pair; pairs with the same form can be stacked."""
    return tuple((value.dtype, value.shape) for value in pair)


class OutputPrefetcher:
    """A cache of one layer's outputs, some of which it requests ahead of time.

    Args:
        successors: maps the keys of two successive requests to the next one, as its
            key and its pair of x and memory. All layers share it.
        call: sends x and memory to the judge, and returns the outputs by name.
    """

    def __init__(
        self, successors: Successors, call: Callable[..., Mapping[str, torch.Tensor]]
    ):
        self._successors, self._call = successors, call
        self._known: dict[Key, torch.Tensor] = {}  # outputs that have been received
        self._before: tuple[Key, Key] = ((), ())  # the last two requests
        self._far = 4  # how many outputs are requested ahead next time

    def __call__(self, x: torch.Tensor, memory: torch.Tensor) -> torch.Tensor:
        """Return the layer's output for x and memory, from cache or from the judge."""
        pair = (plain(x), plain(memory))
        if not _are_floats(pair):
            # What is no float tensor is sent as it is: the judge says what is wrong.
            return self._call(x=x, memory=memory)["output"]
        key = make_key(pair)
        if all(value.numel() <= MOST_EARLY_NUMBERS for value in pair):
            _store(self._successors, self._before, (key, pair))
        self._before = (self._before[1], key)
        if key not in self._known:
            self._request(key, pair)
        return self._known[key].clone()

    def _request(self, key: Key, pair: Pair) -> None:
        """Request and cache an output, together with those expected to follow.

        Of the latter, successive pairs with equal shapes and dtypes are sent as stacks:
        "x.0", "memory.0" and so on.
        """
        names = ("x", "memory")
        question = dict(zip(names, pair, strict=True))
        early = self._predict()
        by_form = itertools.groupby(early, lambda pair_key: read_form(early[pair_key]))
        groups = [list(keys) for _, keys in by_form]
        for place, keys in enumerate(groups):
            pairs = (early[pair_key] for pair_key in keys)
            stacks = map(torch.stack, zip(*pairs, strict=True))
            named = (f"{name}{format_suffix(place)}" for name in names)
            question |= dict(zip(named, stacks, strict=True))
        outputs = self._call(**question)
        _store(self._known, key, outputs["output"])
        for place, keys in enumerate(groups):
            # The judge may leave out what was requested ahead of time.
            if (name := f"output{format_suffix(place)}") in outputs:
                self._known |= dict(zip(keys, outputs[name], strict=True))
        # As when reading a file ahead: whoever keeps asking gets more at once.
        self._far = min(2 * self._far, MOST_AHEAD)

    def _predict(self) -> dict[Key, Pair]:
        """The pairs that are expected to follow and have no known output, in order.

        They are found by following `_successors` from the last two requests.
        """
        expected: dict[Key, Pair] = {}
        before = self._before
        for _ in range(4 * self._far):  # more, since some answers may be cached already
            following = self._successors.get(before)
            if following is None or len(expected) == self._far:
                break
            key, pair = following
            if key not in self._known and key != self._before[1]:
                expected[key] = pair
            before = (before[1], key)
        return expected


def _store(cache: dict[K, V], key: K, value: V) -> None:
    """Store a value in a cache; clear the cache first if it is full."""
    if len(cache) >= _MOST_KEPT:
        cache.clear()
    cache[key] = value


def make_key(pair: Pair) -> Key:
    """A cache key for a pair: its dtypes, shapes and values."""
    return tuple((value.dtype, value.shape, value.numpy().tobytes()) for value in pair)


def _are_floats(pair: tuple[object, object]) -> TypeGuard[Pair]:
    """Whether x and memory are both float tensors, as a layer requires."""
    return all(isinstance(v, torch.Tensor) and v.dtype in _FLOATS for v in pair)
