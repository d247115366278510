"""Byte-pair encoding that is fast enough for grading; unit 6's favours clarity."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import pairwise

Pair = tuple[str, str]


class Segmenter:
    """A faster version of unit 6's ``segment``, which splits a word into symbols.

    It looks up which merge applies next, instead of trying all merges.
    """

    def __init__(self) -> None:
        self._merges: Sequence[Pair] = ()
        self._indices: dict[Pair, list[int]] = {}

    def __call__(self, word: str, merges: Sequence[Pair]) -> list[str]:
        """The symbols of a word after the merges, applied in their order.

        The index is built anew only if ``merges`` is a different object than before.
        """
        if merges is not self._merges:
            self._merges, self._indices = merges, {}
            for i, (first, second) in enumerate(merges):
                self._indices.setdefault((first, second), []).append(i)
        symbols = list(word)
        index = _find_next(symbols, self._indices, -1)
        while index is not None:
            symbols = _merge_pair(symbols, merges[index])
            index = _find_next(symbols, self._indices, index)
        return symbols


def _find_next(
    symbols: list[str], indices: dict[Pair, list[int]], previous: int
) -> int | None:
    """Return the index of the first merge after ``previous`` that applies, if any.

    ``indices`` maps each pair to its places in the list of merges, in order.
    """
    later = (
        merges[at]
        for pair in pairwise(symbols)
        if (merges := indices.get(pair))
        and (at := bisect_right(merges, previous)) < len(merges)
    )
    return min(later, default=None)


def _merge_pair(symbols: list[str], pair: Pair) -> list[str]:
    """Merge each occurrence of a pair of adjacent symbols, from left to right."""
    merged, i = [], 0
    while i < len(symbols):
        width = 2 if symbols[i : i + 2] == [pair[0], pair[1]] else 1
        merged.append("".join(symbols[i : i + width]))
        i += width
    return merged
