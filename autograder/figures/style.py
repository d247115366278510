"""Colours, fonts and lines of all figures.

The colours are based on those of Okabe and Ito (Color Universal Design, 2008),
which readers with any kind of colour vision can tell apart. Transparent parts
show the page, and whatever is drawn in INK takes the colour of the page's text.
Figures therefore suit light pages, dark pages and paper.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

BLUE, ORANGE, GREEN, PINK = "#0F80C8", "#D55E00", "#009E73", "#B85A92"
SKY, AMBER = "#56B4E9", "#E69F00"
PALETTE = (BLUE, ORANGE, GREEN, PINK, AMBER, SKY)
INK = "#010203"  # replaced by the colour of the page's text in the SVG
QUIET = "#010203A6"  # ink for labels around the data
DOTTED = {"color": QUIET, "linestyle": ":", "linewidth": 1}  # a line to compare with
HAIR = "#01020333"  # ink for grids
WIDTH = 7.2  # inches: the width of a notebook, so that all text has the same size
STRONGEST = 0.68  # opacity behind a value, which is readable on light and dark pages

_SETTINGS: dict[str, Any] = {
    "svg.fonttype": "none",  # text in the page's own font
    "font.size": 9.5,
    "axes.titlesize": 10,
    "axes.titlelocation": "left",
    "axes.titlepad": 7,
    "axes.labelsize": 9.5,
    "axes.labelcolor": QUIET,
    "text.color": INK,
    "axes.titlecolor": INK,
    "xtick.labelcolor": QUIET,
    "ytick.labelcolor": QUIET,
    "axes.edgecolor": HAIR,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.spines.left": False,
    "axes.prop_cycle": f"cycler('color', {list(PALETTE)})",
    "axes.axisbelow": True,
    "axes.grid": True,
    "axes.grid.axis": "y",
    "grid.color": HAIR,
    "grid.linewidth": 0.6,
    "xtick.major.size": 0,
    "ytick.major.size": 0,
    "xtick.minor.size": 0,
    "ytick.minor.size": 0,
    "lines.linewidth": 2.0,
    "lines.markersize": 5,
    "legend.frameon": False,
    "figure.constrained_layout.use": True,
}


def apply() -> None:
    """Set the course's style in matplotlib, for all that is drawn afterwards."""
    from matplotlib import style

    style.use(_SETTINGS)


def subplots(
    rows: int = 1,
    columns: int = 1,
    height: float = 2.6,
    width: float = WIDTH,
    **options: Any,
) -> tuple[Any, Any]:
    """``plt.subplots`` in the course's style; sizes are in inches."""
    import matplotlib.pyplot as plt

    apply()
    return plt.subplots(rows, columns, figsize=(width, height), **options)


def number(value: float, form: str) -> str:
    """Format a value as axes do, with a minus sign (U+2212); zero is ``0``."""
    text = format(value, form)
    is_zero = not text.strip("+-0.")
    return "0" if is_zero else text.replace("-", "−")


def sequential(colour: str = BLUE, strongest: float = STRONGEST) -> Any:
    """Return a colormap for weights: one colour, whose opacity grows with the weight.

    ``strongest`` is the opacity for the weight 1.
    """
    from matplotlib.colors import LinearSegmentedColormap, to_rgb

    rgb = to_rgb(colour)
    colours = [(*rgb, 0.03), (*rgb, strongest)]
    return LinearSegmentedColormap.from_list("weights", colours)


def diverging(strongest: float = STRONGEST) -> Any:
    """A colormap for signed values: orange below zero, nothing at zero, blue above."""
    from matplotlib.colors import LinearSegmentedColormap, to_rgb

    low, high = to_rgb(ORANGE), to_rgb(BLUE)
    colours = [(*low, strongest), (*low, 0.0), (*high, 0.0), (*high, strongest)]
    stops = [0.0, 0.4999, 0.5001, 1.0]
    return LinearSegmentedColormap.from_list(
        "differences", list(zip(stops, colours, strict=True))
    )


def name_lines(axes: Any) -> None:
    """Name each line where it ends, beside the axes; call this when all else is set."""
    axes.autoscale_view()  # else the limits are those before the lines were drawn
    to_axes = axes.transData + axes.transAxes.inverted()
    ends = []
    for line in axes.lines:
        if not line.get_label().startswith("_"):
            # The end is on the right, also where an axis is inverted.
            _, height = max(map(tuple, to_axes.transform(line.get_xydata())))
            ends.append((min(max(height, 0.0), 1.0), line))
    ends.sort(key=lambda end: end[0])
    box, (width, height) = axes.get_position(), axes.figure.get_size_inches()
    em_across = _SETTINGS["font.size"] / 72 / (box.width * width)
    em_up = _SETTINGS["font.size"] / 72 / (box.height * height)
    heights = _push_apart([height for height, _ in ends], 1.4 * em_up)
    for y, (_, line) in zip(heights, ends, strict=True):
        axes.plot(
            [1 + n * em_across for n in (0.8, 2.0, 3.2)], [y] * 3,
            line.get_linestyle(), color=line.get_color(), marker=line.get_marker(),
            markevery=[1], linewidth=1.6, transform=axes.transAxes, clip_on=False,
        )  # fmt: skip
        axes.text(
            1 + 4 * em_across, y, line.get_label(), transform=axes.transAxes,
            verticalalignment="center",
        )  # fmt: skip


def _push_apart(heights: Sequence[float], gap: float) -> list[float]:
    """Move ascending heights as little as needed for a gap between neighbours."""
    groups: list[list[float]] = []  # the heights of names that touch
    for height in heights:
        groups.append([height])
        while (
            len(groups) > 1 and _bottom(groups[-1], gap) < _top(groups[-2], gap) + gap
        ):
            groups[-2:] = [groups[-2] + groups[-1]]
    return [
        _bottom(group, gap) + i * gap for group in groups for i in range(len(group))
    ]


def _bottom(group: Sequence[float], gap: float) -> float:
    """Return the lowest height in a group of labels that are a gap apart.

    The group is centred on the mean of ``group``, the heights of the labels' lines.
    """
    return sum(group) / len(group) - (len(group) - 1) * gap / 2


def _top(group: Sequence[float], gap: float) -> float:
    return _bottom(group, gap) + (len(group) - 1) * gap


def bare(axes: Any) -> None:
    """Remove frame, grid and ticks from axes."""
    axes.grid(False)
    axes.spines[:].set_visible(False)
    axes.set(xticks=[], yticks=[])
