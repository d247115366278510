"""Draw one word's attention weights over a sentence as arcs, thicker if larger."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autograder.figures import style

LEAST = 0.02  # the smallest weight that is drawn


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

    centres, end = _places(words)
    highest = 0.5
    for at, weight in zip(centres, weights, strict=True):
        span = abs(at - centres[query])
        if weight < LEAST or span == 0:
            continue
        height = 0.5 * span**0.75
        highest = max(highest, height)
        middle = (at + centres[query]) / 2
        axes.add_patch(
            Arc((middle, 0), span, 2 * height, theta1=0, theta2=180, color=colour,
                linewidth=0.8 + 5 * weight, alpha=0.25 + 0.7 * weight, capstyle="round")
        )  # fmt: skip
        axes.text(
            middle, height + 0.15, f"{weight:.2f}", size=8.5, color=colour, **_MIDDLE
        )
    for n, (word, at) in enumerate(zip(words, centres, strict=True)):
        bold = "bold" if n == query else "normal"
        axes.text(at, -0.45, word, size=10, ha="center", va="top", weight=bold)
    style.bare(axes)
    axes.set(xlim=(-0.2, end), ylim=(-1.4, highest + 0.6))


_MIDDLE: dict[str, Any] = {"ha": "center", "va": "bottom"}


def _places(words: Sequence[str]) -> tuple[list[float], float]:
    """The x-coordinates of the middle of each word in a line, and of the line's end."""
    centres, end = [], 0.0
    for word in words:
        width = 0.24 * len(word) + 0.3
        centres.append(end + width / 2)
        end += width
    return centres, end
