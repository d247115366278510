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
    """Draw arcs from ``words[query]`` to the words that it attends to.

    There is one weight for each word; if it is below `LEAST`, there is no arc.
    """
    from matplotlib.patches import Arc

    centres, end = _places(words)
    spans = [abs(at - centres[query]) for at in centres]
    widths = [s for s, w in zip(spans, weights, strict=True) if w >= LEAST and s]
    row = max(widths, default=1.0) / 6  # the height of a line of text
    for at, span, weight in zip(centres, spans, weights, strict=True):
        if weight < LEAST or span == 0:
            continue
        middle = (at + centres[query]) / 2
        axes.add_patch(
            Arc((middle, 0), span, 2 * span, theta1=0, theta2=180, color=colour,
                linewidth=0.8 + 5 * weight, alpha=0.25 + 0.7 * weight, capstyle="round")
        )  # fmt: skip
        axes.text(
            middle, span + row / 4, f"{weight:.2f}", size=8.5, color=colour, **_MIDDLE
        )
    for n, (word, at) in enumerate(zip(words, centres, strict=True)):
        bold = "bold" if n == query else "normal"
        axes.text(at, -row, word, size=10, ha="center", va="top", weight=bold)
    style.bare(axes)
    axes.set(xlim=(-0.2, end), ylim=(-2.5 * row, 7.5 * row))


_MIDDLE: dict[str, Any] = {"ha": "center", "va": "bottom"}


def _places(words: Sequence[str]) -> tuple[list[float], float]:
    """The x-coordinates of the middle of each word in a line, and of the line's end."""
    centres, end = [], 0.0
    for word in words:
        width = 0.24 * len(word) + 0.3
        centres.append(end + width / 2)
        end += width
    return centres, end
