"""Draw two tensors as inline SVG: heat maps, "who can see whom", bars, curves.

Tensors are first reduced to the matrix (or the row) with the largest difference, so
that tensors of any rank can be drawn; both must have the same shape.
"""

from __future__ import annotations

import html
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import torch

from autograder.checks.exercise import Case, Finding
from autograder.checks.language import _, translate
from autograder.checks.values import differing, worst

CELL, LIMIT = 18, 24  # pixels per cell; most rows and columns that are drawn
WIDTH = 240  # pixels of a matrix without numbers: three are side by side in a panel
NUMBERS = 6 * LIMIT  # cells; a matrix of more shows no numbers
# The colours of `figures.style`: a contrast of 3 to 1 on light and dark pages.
BLUE, ORANGE, GREY = "15,128,200", "213,94,0", "128,128,128"
# Opacities: the faintest that can be seen, the strongest on which text can be read.
FAINT, STRONG = 0.12, 0.52

_Index = tuple[int | slice, ...]


@dataclass(frozen=True)
class _Pair:
    """Two matrices to draw side by side, a mask of where they differ, and a name."""

    expected: torch.Tensor
    actual: torch.Tensor
    wrong: torch.Tensor
    name: str

    @property
    def titles(self) -> tuple[str, str]:
        yours = _("your {name}").format(name=self.name)
        return _("expected {name}").format(name=self.name), yours


def picture(finding: Finding, case: Case) -> str:
    """Draw the most informative picture of a wrong tensor, as HTML; "" for none.

    There is none for fewer than three numbers, no curve for fewer than three points.
    """
    expected, actual = finding.expected, finding.actual
    if not isinstance(expected, torch.Tensor) or not isinstance(actual, torch.Tensor):
        return ""
    if expected.dim() == 0 or expected.numel() < 3:
        return ""
    wrong = differing(expected, actual, case.atol, case.rtol)
    place = worst(expected, actual, wrong)
    if case.picture == "curves" and expected.shape[-2:][0] > 2:
        return _curves(expected, actual, place, finding.name)
    window = _around(place, expected.shape)
    name = f"{translate(finding.name)} {_format_index(window, expected.shape)}".strip()
    first, second, differs = (
        torch.atleast_2d(t[window]) for t in (expected, actual, wrong)
    )
    pair = _Pair(first, second, differs, name)
    if expected.dtype == torch.bool:
        return _who_sees_whom(pair)
    if first.shape[0] == 1 and expected.is_floating_point():
        return _bars(pair, window[-1].start if isinstance(window[-1], slice) else 0)
    return _heat_maps(pair)


def _around(place: Sequence[int], shape: Sequence[int]) -> _Index:
    """Return the index of the matrix that contains an entry, in a tensor of any rank.

    The matrix lies in the last two dimensions, and is cut to LIMIT rows and columns.
    """
    starts = [max(0, index - LIMIT + 1) for index in place[-2:]]
    stops = map(min, shape[-2:], (start + LIMIT for start in starts))
    return (*place[:-2], *map(slice, starts, stops))


def _format_index(window: _Index, shape: Sequence[int]) -> str:
    """Write an index as Python does, "[1, :, 76:100]"; "" if nothing is left out."""
    parts = [
        ":" if size == 1 or part == slice(0, size)
        else str(part) if isinstance(part, int)
        else f"{part.start}:{part.stop}"
        for part, size in zip(window, shape, strict=True)
    ]  # fmt: skip
    return "" if set(parts) == {":"} else f"[{', '.join(parts)}]"


def _who_sees_whom(pair: _Pair) -> str:
    """Draw two masks, with the cells that are True filled."""

    def fill(value: float) -> str:
        return f"rgba({BLUE},{0.9 if value else 0.05})"

    expected, yours = pair.titles
    drawings = [
        (expected, _cells(pair.expected, fill, expected)),
        (yours, _cells(pair.actual, fill, yours, pair.wrong)),
    ]
    return _side_by_side(drawings, _("filled = True (may see), outlined = differs"))


def _heat_maps(pair: _Pair) -> str:
    """Draw both matrices on one scale, and their difference on a scale of its own."""
    expected, actual, titles = pair.expected, pair.actual, pair.titles
    gap = actual.double() - expected.double()
    if not expected.is_floating_point():
        gap = gap.to(expected.dtype)
    gap = gap.where(pair.wrong, 0)
    most, widest = _largest(expected), _largest(gap)
    panels = zip((*titles, _("difference")), (expected, actual, gap), strict=True)
    drawings = [
        (
            title,
            _cells(matrix, _shades(matrix, widest if matrix is gap else most), title),
        )
        for title, matrix in panels
    ]
    legend = _(
        "blue = positive, orange = negative; full colour = {most:.3g}, in the "
        "difference {widest:.3g}"
    )
    return _side_by_side(drawings, legend.format(most=most, widest=widest))


def _largest(matrix: torch.Tensor) -> float:
    """The largest absolute value among finite entries; 1 if that is 0."""
    finite = matrix[torch.isfinite(matrix)].double().abs()
    return (float(finite.max()) if finite.numel() else 0.0) or 1.0


def _shades(matrix: torch.Tensor, most: float) -> Callable[[float], str]:
    """Return a function that maps a value to a colour on which text can be read."""
    strongest = STRONG if _has_numbers(matrix) else 0.95

    def fill(value: float) -> str:
        """Return a value's colour: the hue shows its sign, the opacity its size."""
        if not math.isfinite(value):
            return f"rgba({GREY},.45)"
        shade = FAINT + (strongest - FAINT) * min(abs(value) / most, 1.0)
        colour = BLUE if value >= 0 else ORANGE
        return f"rgba({colour},{shade if value else 0.03:.2f})"

    return fill


def _has_numbers(matrix: torch.Tensor) -> bool:
    """Whether there is room for a number in each cell; integers need less."""
    if matrix.dtype == torch.bool or matrix.numel() > NUMBERS:
        return False
    return matrix.shape[1] <= 6 or not matrix.is_floating_point()


def _cells(
    matrix: torch.Tensor,
    fill: Callable[[float], str],
    title: str,
    wrong: torch.Tensor | None = None,
) -> str:
    """Draw a matrix as coloured cells, with numbers if there is room.

    Cells of one colour share a path, because panels make every notebook file larger.
    """
    rows, columns = matrix.shape
    roomy = _has_numbers(matrix)
    height = CELL if roomy else min(CELL, WIDTH // columns)
    width = 2 * CELL if roomy and columns <= 6 else height
    usual: _Places = {}
    outlined: _Places = {}
    numbers = ""
    differs = torch.zeros_like(matrix, dtype=torch.bool) if wrong is None else wrong
    matrix_rows = zip(matrix.tolist(), differs.tolist(), strict=True)
    for i, (values, flags) in enumerate(matrix_rows):
        for j, (value, flag) in enumerate(zip(values, flags, strict=True)):
            looks = outlined if flag else usual
            looks.setdefault(fill(value), []).append((j * width, i * height))
            if roomy:
                x, y = j * width + width // 2, i * height + 13
                numbers += f'<text x="{x}" y="{y}">{_short(value)}</text>'
    size = width, height
    drawing = _paths(usual, size, 0.5, f"rgba({GREY},.35)")
    drawing += _paths(outlined, size, 1.5, f"rgb({ORANGE})")
    return _frame(columns * width, rows * height, drawing + _texts(numbers), title)


def _texts(numbers: str) -> str:
    look = 'text-anchor="middle" font-size="10" fill="currentColor"'
    return f"<g {look}>{numbers}</g>" if numbers else ""


def _short(value: float) -> str:
    """Format a number in a few characters; small ones are not rounded to zero."""
    if not value or isinstance(value, int):
        return str(int(value))
    return f"{value:.0e}" if abs(value) < 0.005 else f"{value:.2f}"


_Places = dict[str, list[tuple[int, int]]]  # positions of cells, by colour


def _paths(places: _Places, size: tuple[int, int], inset: float, stroke: str) -> str:
    """Draw cells of one size, each with a border inside it.

    ``places`` holds the top left corners of the cells, by fill colour, and
    ``inset`` is half the width of the border.
    """
    if not places:
        return ""
    across, down = (f"{side - 2 * inset:g}" for side in size)
    side = f"h{across}v{down}h-{across}z"
    paths = "".join(
        f'<path fill="{fill}" d="{"".join(f"M{x} {y}{side}" for x, y in cells)}"/>'
        for fill, cells in places.items()
    )
    return (
        f'<g transform="translate({inset} {inset})" stroke="{stroke}" '
        f'stroke-width="{2 * inset}">{paths}</g>'
    )


def _frame(
    width: float, height: float, content: str, title: str, legend: str = ""
) -> str:
    """Put a drawing into an SVG element with a title, and a legend below it."""
    label = html.escape(title, quote=True)
    below = f'<div style="font-size:12px">{html.escape(legend)}</div>' if legend else ""
    return (
        f'<svg width="{width:g}" height="{height}" viewBox="0 0 {width:g} {height}" '
        f'xmlns="http://www.w3.org/2000/svg" role="img" aria-label="{label}">{content}'
        f"</svg>{below}"
    )


def _side_by_side(drawings: Iterable[tuple[str, str]], legend: str) -> str:
    """Put drawings, each with its title, beside each other, above a legend."""
    figures = "".join(
        f'<figure style="display:inline-block;margin:0 1.5em 0 0;vertical-align:top">'
        f'<figcaption style="font-size:12px">{html.escape(title)}</figcaption>'
        f"{drawing}</figure>"
        for title, drawing in drawings
    )
    return f'{figures}<div style="font-size:12px;opacity:.8">{legend}</div>'


def _bars(pair: _Pair, first: int) -> str:
    """Draw one row, like a query's attention weights, with two bars per entry.

    ``pair`` holds matrices of one row; labels count from ``first``. A value that is
    not finite is written at the top instead.
    """
    lines = pair.expected[0].double().tolist(), pair.actual[0].double().tolist()
    low, high = _range((*lines[0], *lines[1], 0.0))
    slot = max(CELL, 360 // len(lines[0]) if len(lines[0]) > 8 else 2 * CELL)
    scale = 100 / ((high - low) or 1.0)
    drawing = labels = ""
    for place, (colour, line) in enumerate(zip((BLUE, ORANGE), lines, strict=True)):
        path = ""
        for i, value in enumerate(line):
            x = i * slot + 2 + place * (slot // 2 - 1)
            if math.isfinite(value):
                top = 10 + scale * (high - max(value, 0.0))
                path += f"M{x} {top:.1f}h{slot // 2 - 3}v{scale * abs(value):.1f}"
                path += f"h{3 - slot // 2}z"
            else:
                labels += f'<text x="{x + slot // 4}" y="8">{value}</text>'
        drawing += f'<path fill="rgb({colour})" d="{path}"/>'
    width = slot * len(lines[0])
    zero = 10 + scale * high
    drawing += f'<path stroke="rgb({GREY})" d="M0 {zero:.1f}h{width}"/>'
    labels += "".join(
        f'<text x="{i * slot + slot // 2}" y="124">{first + i}</text>'
        for i in range(len(lines[0]))
    )
    legend = _(
        "{name}: blue, left = expected, orange, right = yours "
        "(from {low:.3g} to {high:.3g})"
    ).format(name=pair.name, low=low, high=high)
    return _frame(width, 128, drawing + _texts(labels), pair.name, legend)


def _range(numbers: Iterable[float]) -> tuple[float, float]:
    """The smallest and the largest finite number; zeros if there is none."""
    finite = [*filter(math.isfinite, numbers)] or [0.0]
    return min(finite), max(finite)


def _curves(
    expected: torch.Tensor, actual: torch.Tensor, place: Sequence[int], name: str
) -> str:
    """Draw the column (or the vector) with the largest difference as two curves.

    ``place`` is the index of the entry with this difference.
    """
    title = translate(name)
    if len(place) > 1:
        column: _Index = (*place[:-2], slice(None), place[-1])
        expected, actual = expected[column], actual[column]
        title = _("{name}, column {column}").format(name=title, column=place[-1])
    lines = (expected.double().tolist(), actual.double().tolist())
    low, high = _range((*lines[0], *lines[1]))
    legend = _(
        "{name}: solid blue = expected, dashed orange = yours "
        "(from {low:.3g} to {high:.3g})"
    ).format(name=title, low=low, high=high)
    drawing = _line(lines[0], low, high, BLUE, "") + _line(
        lines[1], low, high, ORANGE, ' stroke-dasharray="5 3"'
    )
    return _frame(360, 130, drawing, title, legend)


def _line(
    values: Sequence[float], low: float, high: float, colour: str, dashes: str
) -> str:
    """Draw the finite values of one curve, scaled from ``low`` to ``high``."""
    span, step = (high - low) or 1.0, 340 / max(len(values) - 1, 1)
    points = " ".join(
        f"{10 + i * step:.1f},{120 - 110 * (v - low) / span:.1f}"
        for i, v in enumerate(values)
        if math.isfinite(v)
    )
    return (
        f'<polyline points="{points}" fill="none" stroke="rgb({colour})" '
        f'stroke-width="2"{dashes}/>'
    )
