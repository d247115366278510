"""A sheet to draw on: boxes, arrows, tables of cells, in the course's colours.

Lengths are in units of a tenth of an inch, y grows downwards. The background is opaque
white, so that a drawing reads the same in light and dark themes and in print.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path

import matplotlib as mpl
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch, Rectangle
from PIL import Image

HERE = Path(__file__).resolve().parent
DOTS = 120  # an inch
COLOURS = 128  # of a saved drawing: lines and a few fills, so that it stays small

# Okabe and Ito, for the blind to colours: pale as fills, full as lines.
BLUE, ORANGE, GREEN, PINK = "#0072B2", "#D55E00", "#009E73", "#B85A92"
PALE = {BLUE: "#D3E7F3", ORANGE: "#FBE0D0", GREEN: "#D2EDE4", PINK: "#F3DEEA"}
INK, GREY, PAPER, SHADE = "#1A1A1A", "#777777", "#FFFFFF", "#EDEDED"

Point = tuple[float, float]


class Sheet:
    """A drawing of ``width`` by ``height`` units."""

    def __init__(self, width: float, height: float):
        mpl.rcParams["font.family"] = "DejaVu Sans"
        self.figure = Figure(figsize=(width / 10, height / 10), facecolor=PAPER)
        self.axes = self.figure.add_axes((0, 0, 1, 1))
        self.axes.set(xlim=(0, width), ylim=(height, 0))
        self.axes.axis("off")

    def text(
        self,
        x: float,
        y: float,
        words: str,
        size: float = 10,
        colour: str = INK,
        align: str = "center",
        weight: str = "normal",
    ) -> None:
        """Words around a point; ``align`` is center, left or right."""
        self.axes.text(
            x, y, words, fontsize=size, color=colour, ha=align, va="center",
            weight=weight, linespacing=1.35,
        )  # fmt: skip

    def box(
        self,
        x: float,
        y: float,
        width: float,
        height: float,
        words: str = "",
        colour: str = GREY,
        size: float = 10,
        dashed: bool = False,
        fill: str | None = None,
    ) -> None:
        """A rounded box with its upper left corner at (x, y)."""
        self.axes.add_patch(
            FancyBboxPatch(
                (x + 0.4, y + 0.4), width - 0.8, height - 0.8,
                boxstyle="round,pad=0.4,rounding_size=0.7",
                facecolor=fill or PALE.get(colour, PAPER), edgecolor=colour,
                linewidth=1.3, linestyle="--" if dashed else "-", zorder=2,
            )
        )  # fmt: skip
        if words:
            self.text(x + width / 2, y + height / 2, words, size)

    def arrow(
        self,
        *points: Point,
        colour: str = INK,
        dashed: bool = False,
        width: float = 1.3,
        curve: float = 0.0,
    ) -> None:
        """A line through points, with a head at the last; two points may be curved."""
        line = {"color": colour, "linewidth": width, "zorder": 3}
        style = "--" if dashed else "-"
        if len(points) > 2:
            xs, ys = zip(*points[:-1], strict=True)
            self.axes.plot(xs, ys, linestyle=style, solid_joinstyle="round", **line)
        self.axes.add_patch(
            FancyArrowPatch(
                points[-2], points[-1], arrowstyle="-|>", mutation_scale=10,
                shrinkA=0, shrinkB=0, linestyle=style,
                connectionstyle=f"arc3,rad={curve}", **line,
            )
        )  # fmt: skip

    def line(
        self, *points: Point, colour: str = INK, width: float = 1.3, style: str = "-"
    ) -> None:
        """A line through points, without a head."""
        xs, ys = zip(*points, strict=True)
        self.axes.plot(xs, ys, style, color=colour, linewidth=width, zorder=1)

    def table(
        self,
        x: float,
        y: float,
        fills: Sequence[Sequence[str]],
        side: float = 2.0,
        words: Sequence[Sequence[str]] | None = None,
        size: float = 8,
        edge: str = "#FFFFFF",
    ) -> None:
        """Square cells of given fills, row by row; perhaps with words in them."""
        for i, row in enumerate(fills):
            for j, fill in enumerate(row):
                corner = (x + j * side, y + i * side)
                self.axes.add_patch(
                    Rectangle(corner, side, side, facecolor=fill, edgecolor=edge,
                              linewidth=0.8, zorder=3)
                )  # fmt: skip
                if words and words[i][j]:
                    middle = (corner[0] + side / 2, corner[1] + side / 2)
                    self.axes.text(*middle, words[i][j], fontsize=size, ha="center",
                                   va="center", zorder=4, color=INK)  # fmt: skip
        rows, columns = len(fills), len(fills[0])
        self.axes.add_patch(
            Rectangle((x, y), columns * side, rows * side, fill=False, edgecolor=INK,
                      linewidth=0.9, zorder=4)
        )  # fmt: skip

    def save(self, name: str) -> Path:
        """Write ``name.png``: few colours, and nothing that changes from day to day."""
        buffer = io.BytesIO()
        self.figure.savefig(buffer, dpi=DOTS, metadata={"Software": None})
        picture = Image.open(buffer).convert("RGB")
        target = HERE / f"{name}.png"
        few = picture.quantize(COLOURS, dither=Image.Dither.NONE)
        few.save(target, optimize=True)
        return target


def mixed(colour: str, share: float) -> str:
    """A colour on white paper, of which this share is ink."""
    channels = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return "#" + "".join(f"{round(255 + (c - 255) * share):02X}" for c in channels)
