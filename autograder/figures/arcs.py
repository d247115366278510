"""Attention of one word over a sentence, as arcs whose width is the weight."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autograder.figures import style

LEAST = 0.02  # a weight that is drawn


def arcs(
    axes: Any,
    words: Sequence[str],
    query: int,
    weights: Sequence[float],
    colour: str = style.BLUE,
) -> None:
    """Draw the arcs from ``words[query]`` to the words that it attends to.

    Args:
        weights: one for each word; they sum to one.
    """
    from matplotlib.patches import Arc

    places, end = _places(words)
    highest = 0.5
    for at, weight in zip(places, weights, strict=True):
        wide = abs(at - places[query])
        if weight < LEAST or wide == 0:
            continue
        high = 0.5 * wide**0.75
        highest = max(highest, high)
        middle = (at + places[query]) / 2
        axes.add_patch(
            Arc((middle, 0), wide, 2 * high, theta1=0, theta2=180, color=colour,
                linewidth=0.8 + 5 * weight, alpha=0.25 + 0.7 * weight, capstyle="round")
        )  # fmt: skip
        axes.text(
            middle, high + 0.15, f"{weight:.2f}", size=8.5, color=colour, **_MIDDLE
        )
    for n, (word, at) in enumerate(zip(words, places, strict=True)):
        bold = "bold" if n == query else "normal"
        axes.text(at, -0.45, word, size=10, ha="center", va="top", weight=bold)
    style.bare(axes)
    axes.set(xlim=(-0.2, end), ylim=(-1.4, highest + 0.6))


_MIDDLE: dict[str, Any] = {"ha": "center", "va": "bottom"}


def _places(words: Sequence[str]) -> tuple[list[float], float]:
    """The middle of each word when all are written in a line, and the line's end."""
    places, end = [], 0.0
    for word in words:
        width = 0.24 * len(word) + 0.3
        places.append(end + width / 2)
        end += width
    return places, end
