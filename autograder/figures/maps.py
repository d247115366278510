"""Draw heat maps of weights, signed values and masks, with values if there is room."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from autograder.figures import style

VALUES = 100  # cells; in a larger matrix, values would be too small to read
CROWDED = 64  # cells; from here on, zeros are left out, as they hide the other values
_GAP = 0.04  # on each side of a cell, as a part of its size
_SHADES = 32  # of each colour; cells of the same shade are drawn as one path


def heat_map(
    axes: Any,
    matrix: Any,
    rows: Sequence[object] = (),
    columns: Sequence[object] = (),
    title: str = "",
    *,
    signed: bool = False,
    top: float | None = 1.0,
    allowed: Any = None,
    values: str | None = ".2f",
    size: float = 8,
) -> None:
    """Draw a matrix, for instance with a row for each query and a column for each key.

    Args:
        matrix: (rows, columns), of torch or NumPy.
        signed: whether to use the diverging colormap, for values of both signs.
        top: the absolute value with the strongest colour; None: the largest one
            that is allowed.
        allowed: booleans of the same shape; cells with False are struck out.
        values: the format of the values in the cells; None shows none. In large
            matrices they are never shown.
        size: the font size of the values.
    """
    cells = np.array(_table(matrix), dtype=float)
    unmasked = (
        np.ones_like(cells, bool) if allowed is None else np.array(allowed.tolist())
    )
    most = (abs(cells[unmasked]).max(initial=0.0) if top is None else top) or 1.0
    shows_values = values is not None and cells.size <= VALUES
    full = style.STRONGEST if shows_values else 1.0
    colours = style.diverging(full) if signed else style.sequential(strongest=full)
    fills: dict[Any, list[tuple[int, int]]] = {}  # the cells of a colour
    for (i, j), value in np.ndenumerate(cells):
        part = round(_SHADES * (value / most)) / _SHADES
        part = (part + 1) / 2 if signed else part
        fills.setdefault(colours(part) if unmasked[i, j] else None, []).append((i, j))
        if unmasked[i, j] and shows_values and values:
            word = format_value(value, values)
            ink = style.QUIET if word == "0" else style.INK
            if word != "0" or cells.size < CROWDED:
                axes.text(j, i, word, size=size, color=ink, **_MIDDLE)
    for fill, places in fills.items():
        _cells(axes, places, fill)
    _frame(axes, cells.shape, title)
    _name(axes, rows, columns)


_MIDDLE: dict[str, Any] = {"ha": "center", "va": "center", "clip_on": False}


def _table(matrix: Any) -> Any:
    """Convert a tensor to a NumPy array; other matrices are returned as they are."""
    is_tensor = hasattr(matrix, "detach")
    return matrix.detach().cpu().float().numpy() if is_tensor else matrix


def _frame(axes: Any, shape: tuple[int, ...], title: str) -> None:
    """Set up axes for square cells without a frame, with the first row on top."""
    rows, columns = shape
    style.bare(axes)
    axes.set(xlim=(-0.5, columns - 0.5), ylim=(rows - 0.5, -0.5), aspect="equal")
    axes.set_title(title)


def format_value(value: float, form: str = ".2f") -> str:
    """Format a value for a cell: ``.86``, ``−.40``, ``1.00``, ``0``."""
    digits = style.number(value, form)
    return digits.replace("0.", ".", 1) if abs(value) < 1 else digits


def _cells(axes: Any, places: Sequence[tuple[float, float]], fill: Any) -> None:
    """Draw cells of one colour, at pairs of a row and a column, as one path.

    If ``fill`` is None, outlines with a stroke through them are drawn instead.
    """
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path

    half = 0.5 - _GAP
    corners = ((-1, -1), (1, -1), (1, 1), (-1, 1), (-1, -1))
    square = [(half * x, half * y) for x, y in corners]
    codes = [Path.MOVETO, *[Path.LINETO] * 3, Path.CLOSEPOLY]
    if fill is None:
        square += [(-half, half), (half, -half)]
        codes += [Path.MOVETO, Path.LINETO]
    points = [(j + x, i + y) for i, j in places for x, y in square]
    look = {"facecolor": fill, "edgecolor": "none"}
    if fill is None:
        look = {"facecolor": "none", "edgecolor": style.HAIR, "linewidth": 0.8}
    axes.add_patch(PathPatch(Path(points, codes * len(places)), clip_on=False, **look))


def lit_matrix(axes: Any, matrix: Any, light: Any, form: str, title: str = "") -> None:
    """Draw a matrix with its values on cells that are lit to different degrees.

    Args:
        light: how strongly each cell is coloured, from 0 to 1.
        form: the format of the values.
    """
    heat_map(axes, light, title=title, top=1 / style.STRONGEST, values=None)
    for (i, j), value in np.ndenumerate(_table(matrix)):
        axes.text(j, i, format_value(float(value), form), size=8, **_MIDDLE)


def row_areas(
    figure: Any, axes: Any, rows: int
) -> list[tuple[float, float, float, float]]:
    """Return the area of each row of a heat map, for ``autograder.figures.page.steps``.

    An area is (left, top, width, height), relative to the size of the figure.
    """
    figure.draw_without_rendering()
    box = axes.get_position()
    height = box.height / rows
    return [(box.x0, 1 - box.y1 + i * height, box.width, height) for i in range(rows)]


def _name(axes: Any, rows: Sequence[object], columns: Sequence[object]) -> None:
    """Label rows on the left and columns below; rotate long names of columns."""
    axes.set_yticks(range(len(rows)), [str(name) for name in rows])
    names = [str(name) for name in columns]
    turned = max(map(len, names), default=0) > 4
    look = {"rotation": 40, "ha": "right", "rotation_mode": "anchor"} if turned else {}
    axes.set_xticks(range(len(names)), names, **look)


def image(
    axes: Any, matrix: Any, *, signed: bool = False, top: float | None = None
) -> Any:
    """Draw a large matrix without values; return the mappable for `colour_bar`."""
    table = _table(matrix)
    most = float(abs(table).max()) if top is None else top
    mappable = axes.imshow(
        table, cmap=style.diverging(1.0) if signed else style.sequential(strongest=1.0),
        vmin=-most if signed else 0, vmax=most, aspect="auto", interpolation="none",
    )  # fmt: skip
    axes.grid(False)
    return mappable


def colour_bar(figure: Any, mappable: Any, axes: Any, label: str) -> None:
    """Add a slim colour bar, without a frame, for a ``mappable`` from `image`."""
    bar = figure.colorbar(mappable, ax=axes, label=label, fraction=0.03, pad=0.02)
    bar.outline.set_visible(False)
    bar.ax.locator_params(nbins=4)


def cell(axes: Any, i: float, j: float, fill: Any, word: str) -> None:
    """Draw one cell with a word in it, in row i and column j."""
    _cells(axes, [(i, j)], fill)
    axes.text(j, i, word, size=9, **_MIDDLE)


def coloured_cells(
    axes: Any,
    words: Sequence[Sequence[str]],
    colours: Sequence[Sequence[str]],
    title: str = "",
) -> None:
    """Draw a table of words, each in a cell of its colour."""
    from matplotlib.colors import to_rgb

    for i, (row, fills) in enumerate(zip(words, colours, strict=True)):
        for j, (word, fill) in enumerate(zip(row, fills, strict=True)):
            cell(axes, i, j, (*to_rgb(fill), 0.5), word)
    _frame(axes, (len(words), len(words[0])), title)
