"""The drawing of a table's dimensions."""

from __future__ import annotations

from typing import Any

import torch

from autograder.checks.exercise import WrongAnswerError
from autograder.checks.probes import Inputs, Seen, describe, probe


@probe(
    "positional_encoding/draw_dimensions",
    results="labels in the legend; labels of the axes; positions in view; "
    "figures; positions of the curves; curves",
)
def draw_dimensions(function: Any, inputs: Inputs) -> Seen:
    """The curves, in the order of their values, and whether all is labelled."""
    import matplotlib.pyplot as plt

    dimensions, length = inputs["dimensions"].tolist(), int(inputs["length"])
    blank = plt.figure()  # the current figure may hold an earlier cell's curves
    try:
        drawn = [  # the first of two stays open
            function(inputs["table"], dimensions, length)
            for _ in range(int(inputs.get("pictures", 1)))
        ]
    finally:
        plt.close(blank)
    ax = drawn[-1]
    if not hasattr(ax, "get_lines") or not hasattr(ax, "get_legend"):
        raise WrongAnswerError(f"expected the Axes of one figure, got {describe(ax)}")
    curves = sorted(_curves(ax), key=lambda curve: curve[1].tolist())
    for each in drawn:  # otherwise the notebook shows it below the check
        plt.close(each.figure)
    seen = {
        "labels in the legend": f"{_labels(ax)} different",
        "labels of the axes": _labelled(ax),
        "positions in view": _in_view(ax, length),
        "figures": str(len({id(each.figure) for each in drawn})),
    }
    if len({curve.shape for curve in curves}) != 1:
        return seen | {"points of the curves": str([len(c[0]) for c in curves])}
    both = torch.stack(curves, dim=1)  # (2, dimensions, length)
    return seen | {"positions of the curves": both[0], "curves": both[1]}


def _curves(ax: Any) -> list[torch.Tensor]:
    """Each curve that can be seen: its x and y values, (2, length)."""
    return [
        torch.tensor(line.get_xydata(), dtype=torch.float32).T
        for line in ax.get_lines()
        if len(line.get_xydata()) > 1 and _is_visible(line) and not _guides(ax, line)
    ]


def _labels(ax: Any) -> int:
    """How many different labels the legend has; what they say is not read."""
    legend = ax.get_legend()
    if legend is None or not legend.get_visible():
        return 0
    return len({text.get_text().strip() for text in legend.get_texts()} - {""})


def _guides(ax: Any, line: Any) -> bool:
    """Whether it only guides the eye, across the figure: `axhline` and `axvline`."""
    return line.get_transform() is not ax.transData


def _is_visible(line: Any) -> bool:
    looks = (line.get_linestyle(), line.get_marker())
    drawn = any(str(look) not in ("None", "none", "", " ") for look in looks)
    return bool(drawn and line.get_visible() and line.get_alpha() != 0)


def _labelled(ax: Any) -> str:
    labels = {"x": ax.get_xlabel(), "y": ax.get_ylabel()}
    missing = [axis for axis, label in labels.items() if not label.strip()]
    return f"missing: {' and '.join(missing)}" if missing else "both"


def _in_view(ax: Any, length: int) -> str:
    """Whether all positions lie between the ends of the x axis, on whichever side."""
    left, right = sorted(ax.get_xlim())
    return "all" if left <= 1e-6 and right >= length - 1 - 1e-6 else "not all"
