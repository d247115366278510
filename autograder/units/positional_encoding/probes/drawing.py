"""The drawing of a table's dimensions."""

from __future__ import annotations

import re
from typing import Any

import torch

from autograder.checks.exercise import WrongAnswerError
from autograder.checks.probes import Inputs, Seen, describe, probe


@probe(
    "positional_encoding/draw_dimensions",
    results="dimensions in the legend; names of the axes; positions in view; "
    "pictures; positions of the curves; curves",
)
def draw_dimensions(function: Any, inputs: Inputs) -> Seen:
    """What stands on the axes: curves in the order of their names, and all names."""
    dimensions, length = inputs["dimensions"].tolist(), int(inputs["length"])
    pictures = [  # the first of two stays open
        function(inputs["table"], dimensions, length)
        for _ in range(int(inputs.get("pictures", 1)))
    ]
    ax = pictures[-1]
    if not hasattr(ax, "get_lines") or not hasattr(ax, "get_legend"):
        raise WrongAnswerError(f"expected the Axes of one picture, got {describe(ax)}")
    numbers = _numbers_of_curves(ax)
    curves = [line.get_xydata() for line in sorted(numbers, key=numbers.__getitem__)]
    for picture in pictures:
        _close(picture.figure)
    seen = {
        "dimensions in the legend": ", ".join(map(str, sorted(numbers.values()))),
        "names of the axes": _named_axes(ax),
        "positions in view": _in_view(ax, length),
        "pictures": str(len({id(picture.figure) for picture in pictures})),
    }
    if len({len(curve) for curve in curves}) != 1:
        return seen | {"points of the curves": str([len(curve) for curve in curves])}
    drawn = torch.tensor(curves, dtype=torch.float32)  # (dimensions, length, 2)
    return seen | {"positions of the curves": drawn[..., 0], "curves": drawn[..., 1]}


def _numbers_of_curves(ax: Any) -> dict[Any, int]:
    """Each curve's number in the legend, by colour or by label; 0: none."""
    legend = ax.get_legend()
    entries: dict[object, int] = {}
    if legend is not None and legend.get_visible():
        texts = [text.get_text() for text in legend.get_texts()]
        for text, handle in zip(texts, legend.legend_handles, strict=False):
            digits = _DIMENSION.findall(text) or re.findall(r"\d+", text)
            number = int(digits[-1]) if digits else 0
            colour = handle.get_color() if hasattr(handle, "get_color") else None
            entries |= {text: number, ("colour", str(colour)): number}
    lines = [
        line
        for line in ax.get_lines()
        if len(line.get_xdata()) > 1 and _is_visible(line) and not _guides(ax, line)
    ]
    colours = [("colour", str(line.get_color())) for line in lines]
    labels = [line.get_label() for line in lines]
    first, second = labels, colours
    if len(set(colours)) == len(lines):  # what a person goes by, whatever the label is
        first, second = colours, labels
    return {
        line: entries.get(one, entries.get(other, 0))
        for line, one, other in zip(lines, first, second, strict=True)
    }


def _guides(ax: Any, line: Any) -> bool:
    """Whether it only guides the eye, across the picture: `axhline` and `axvline`."""
    return line.get_transform() is not ax.transData


def _is_visible(line: Any) -> bool:
    signs = (line.get_linestyle(), line.get_marker())
    drawn = any(str(sign) not in ("None", "none", "", " ") for sign in signs)
    return bool(drawn and line.get_visible() and line.get_alpha() != 0)


def _named_axes(ax: Any) -> str:
    names = {"x": ax.get_xlabel(), "y": ax.get_ylabel()}
    missing = [axis for axis, name in names.items() if not name.strip()]
    if missing:
        return f"missing: {' and '.join(missing)}"
    exchanged = _VALUE.search(names["x"]) and _PLACE.search(names["y"])
    return "exchanged" if exchanged else "both"


def _in_view(ax: Any, length: int) -> str:
    """Whether all positions lie between the ends of the x axis, on whichever side."""
    left, right = sorted(ax.get_xlim())
    return "all" if left <= 1e-6 and right >= length - 1 - 1e-6 else "not all"


_DIMENSION = re.compile(r"\bdim(?:ension)?\b\W*(\d+)", re.IGNORECASE)
_VALUE = re.compile(r"\b(values?|encodings?)\b", re.IGNORECASE)
_PLACE = re.compile(r"^\W*pos(itions?)?\b", re.IGNORECASE)


def _close(figure: Any) -> None:
    """Take a figure from pyplot's list, or the notebook shows it under the check."""
    import matplotlib.pyplot as plt

    plt.close(figure)
