"""Draw horizontal bars with their values, without a frame."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from autograder.figures import style


def bars(
    axes: Any,
    named: Mapping[str, float],
    form: str = ".3f",
    colours: Any = style.BLUE,
    most: float | None = None,
) -> None:
    """Draw a horizontal bar for each value, the first one at the bottom.

    Args:
        named: the values, by the label of the bar.
        form: the format of the values' text.
        colours: one colour for all bars, or one for each.
        most: the end of the axis; by default, the values' text just fits.
    """
    values = list(named.values())
    container = axes.barh(list(named), values, height=0.62, color=colours)
    axes.bar_label(
        container, [style.number(value, form) for value in values], padding=5, size=9
    )
    axes.grid(False)
    axes.spines[:].set_visible(False)
    axes.set(xticks=[], xlim=(0, 1.15 * max(values) if most is None else most))
