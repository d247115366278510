"""Byte-pair encoding at the speed of grading; the course's own way is for reading."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from itertools import pairwise

Pair = tuple[str, str]


def segmenter(merges: Sequence[Pair]) -> Callable[[str, Sequence[Pair]], list[str]]:
    """A function like unit 6's ``segment`` that knows where each pair stands in a list.

    The original walks through all merges for each word; this one goes from one merge
    that applies to the next. Both apply them in their order, each once.
    """
    places: dict[Pair, list[int]] = {}
    for place, pair in enumerate(merges):
        places.setdefault((pair[0], pair[1]), []).append(place)

    def segment(word: str, _merges: Sequence[Pair]) -> list[str]:
        symbols, done = list(word), -1
        while (place := _next(symbols, places, done)) is not None:
            symbols = _merged(symbols, merges[place])
            done = place
        return symbols

    return segment


def _next(symbols: list[str], places: dict[Pair, list[int]], done: int) -> int | None:
    """The first merge after ``done`` that applies; None if there is none."""
    later = (
        known[at]
        for pair in pairwise(symbols)
        if (known := places.get(pair))
        and (at := bisect_right(known, done)) < len(known)
    )
    return min(later, default=None)


def _merged(symbols: list[str], pair: Pair) -> list[str]:
    merged, i = [], 0
    while i < len(symbols):
        width = 2 if symbols[i : i + 2] == [pair[0], pair[1]] else 1
        merged.append("".join(symbols[i : i + width]))
        i += width
    return merged
