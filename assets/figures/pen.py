"""A sheet to draw on: boxes, arrows, tables of cells, in the course's colours.

Lengths are in units of a tenth of an inch, y grows downwards. Nothing is painted behind
a drawing, fills let the page through, and ink has the colour of the page's text: so a
drawing reads the same in light and dark themes and in print.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch, Rectangle

from autograder.course import ROOT
from autograder.figures import style
from autograder.figures.maps import format_value
from autograder.figures.style import BLUE, GREEN, INK, ORANGE, PINK
from autograder.figures.svg import as_svg

FOLDER = ROOT / "transformer_course" / "drawings"
GREY, SHADE, CLEAR = style.QUIET, style.HAIR, "none"
FILL = 0.18  # of a box's colour, inside of it
LEADING = 1.3  # the height of a line, as a multiple of the font's size
CELL = 3.3  # side of a cell with a value in it

__all__ = ["BLUE", "CLEAR", "GREEN", "GREY", "INK", "ORANGE", "PINK", "SHADE"]

Point = tuple[float, float]
Colour = str | tuple[float, float, float, float]


class Sheet:
    """A drawing of ``width`` by ``height`` units."""

    def __init__(self, width: float, height: float):
        style.apply()
        self.figure = Figure(figsize=(width / 10, height / 10), layout="none")
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
        """Lines around a point; ``align`` is center, left or right.

        A line is placed by its baseline, since words with and without descenders
        would otherwise not be level.
        """
        lines, unit = words.split("\n"), size * 10 / 72
        first = y + 0.36 * unit - (len(lines) - 1) / 2 * LEADING * unit
        for n, line in enumerate(lines):
            self.axes.text(
                x, first + n * LEADING * unit, line, fontsize=size, color=colour,
                ha=align, va="baseline", weight=weight, zorder=4,
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
                facecolor=fill or inside(colour), edgecolor=colour,
                linewidth=1.3, linestyle="--" if dashed else "-", zorder=2,
            )
        )  # fmt: skip
        if words:
            self.text(x + width / 2, y + height / 2, words, size)

    def arrow(
        self,
        *points: Point,
        colour: Colour = INK,
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
        fills: Sequence[Sequence[Colour]],
        side: float = 2.0,
        words: Sequence[Sequence[str]] | None = None,
        size: float = 8,
    ) -> None:
        """Square cells of given fills, row by row; perhaps with words in them."""
        for i, row in enumerate(fills):
            for j, fill in enumerate(row):
                corner = (x + j * side, y + i * side)
                self.axes.add_patch(
                    Rectangle(corner, side, side, facecolor=fill, edgecolor=SHADE,
                              linewidth=0.6, zorder=3, clip_on=False)
                )  # fmt: skip
                if words and words[i][j]:
                    self.text(
                        corner[0] + side / 2, corner[1] + side / 2, words[i][j], size
                    )

    def matrix(
        self,
        x: float,
        y: float,
        values: Sequence[Sequence[float | None]],
        title: str,
        shape: str,
        *,
        form: str = ".2f",
        colour: str = BLUE,
        top: float | None = None,
        row: int | None = None,
        struck: str = "−∞",
    ) -> tuple[float, float]:
        """A matrix with its values in it; None is struck out. Returns its extent.

        Args:
            form: how to write a value.
            top: weights from 0 to this, in one colour; None: signed values.
            row: what to outline, as the one that a reader follows.
            struck: the word in a cell of None; without one, it is crossed out.
        """
        known = [abs(v) for line in values for v in line if v is not None]
        most, side = top or max(known), CELL
        fills = [
            [self._fill(v, most, colour, top is None) for v in line] for line in values
        ]
        words = [
            [struck if v is None else format_value(v, form) for v in line]
            for line in values
        ]
        self.table(x, y, fills, side, words, 8.3)
        for i, line in enumerate(values):
            for j in [j for j, v in enumerate(line) if v is None and not struck]:
                left, below = x + j * side, y + (i + 1) * side
                self.axes.plot(
                    (left, left + side),
                    (below, below - side),
                    color=GREY,
                    linewidth=0.8,
                )
        width, height = side * len(values[0]), side * len(values)
        self.text(x, y - 3.6, title, 9.5, align="left", weight="bold")
        self.text(x, y - 1.4, shape, 8.5, GREY, align="left")
        if row is not None:
            self.axes.add_patch(
                Rectangle((x, y + row * side), width, side, fill=False,
                          edgecolor=ORANGE, linewidth=1.8, zorder=5)
            )  # fmt: skip
        return width, height

    @staticmethod
    def _fill(value: float | None, most: float, colour: str, signed: bool) -> Colour:
        if value is None:
            return CLEAR
        if signed:
            return style.diverging()((value / most + 1) / 2)
        return style.sequential(colour)(value / most)

    def save(self, name: str, alt: str) -> Path:
        """Write ``name.svg``, which is the same each time."""
        target = FOLDER / f"{name}.svg"
        target.write_text(
            as_svg(self.figure, alt, tight=False) + "\n", encoding="utf-8"
        )
        return target


def mixed(colour: str, share: float) -> Colour:
    """A colour of which so much covers the page."""
    return (*to_rgb(colour), share)


def inside(colour: str) -> Colour:
    """The fill of a box with a border of this colour; grey ones have none."""
    return CLEAR if colour in (INK, GREY, SHADE) else mixed(colour, FILL)
