"""Colours, type and lines of all figures.

The colours are those of Okabe and Ito (Color Universal Design, 2008), which readers
with any kind of colour vision can tell apart; pink is darker, for white paper, and blue
is brighter, for dark pages. What is
drawn in INK takes the colour of the page's text, and what is transparent shows the
page. So a colour map here is one hue from transparent to opaque: it reads the same on
light pages, on dark ones and on paper.
"""

from __future__ import annotations

from typing import Any

BLUE, ORANGE, GREEN, PINK = "#0F80C8", "#D55E00", "#009E73", "#B85A92"
SKY, AMBER = "#56B4E9", "#E69F00"
PALETTE = (BLUE, ORANGE, GREEN, PINK, AMBER, SKY)
INK = "#010203"  # the page's colour, put in when it is written as SVG
QUIET = "#010203A6"  # ink for what stands around the data
DOTTED = {"color": QUIET, "linestyle": ":", "linewidth": 1}  # a line to compare with
HAIR = "#01020333"  # ink for grids
WIDTH = 7.2  # inches: a column of a notebook, so that type has one size everywhere
STRONGEST = 0.68  # of a colour below a value: ink on it is read on either page

_SETTINGS: dict[str, Any] = {
    "svg.fonttype": "none",  # text in the page's own type
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
    """Give matplotlib the course's look; what is drawn afterwards has it."""
    from matplotlib import style

    style.use(_SETTINGS)


def subplots(
    rows: int = 1,
    columns: int = 1,
    height: float = 2.6,
    width: float = WIDTH,
    **options: Any,
) -> tuple[Any, Any]:
    """``plt.subplots`` in the course's look; sizes are in inches."""
    import matplotlib.pyplot as plt

    apply()
    return plt.subplots(rows, columns, figsize=(width, height), **options)


def sequential(colour: str = BLUE, strongest: float = STRONGEST) -> Any:
    """A colormap for weights, from nearly transparent (0) to the colour (1)."""
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


def legend(axes: Any) -> None:
    """A legend beside the axes, where no data can come to lie below it."""
    axes.legend(loc="center left", bbox_to_anchor=(1, 0.5))


def bare(axes: Any) -> None:
    """Axes without frame, grid and ticks."""
    axes.grid(False)
    axes.spines[:].set_visible(False)
    axes.set(xticks=[], yticks=[])
