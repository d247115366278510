"""Expected beside own, as inline SVG: heat maps, "who can see whom", curves.

Tensors are reduced to one matrix (or one line) first, so that no rank can break the
drawing; callers come here only when the shapes agree.
"""

from __future__ import annotations

import html
import math
from collections.abc import Callable, Sequence

import torch

from autograder.checks.exercise import Case, Finding
from autograder.checks.language import _, reworded
from autograder.checks.values import differing

CELL, LIMIT = 18, 24  # pixels a cell; rows and columns drawn at most
BLUE, ORANGE, GREY = "0,114,178", "213,94,0", "128,128,128"


def picture(finding: Finding, case: Case) -> str:
    """The picture that tells most about a wrong tensor, as HTML; "" if none would."""
    expected, actual = finding.expected, finding.actual
    if not isinstance(expected, torch.Tensor) or not isinstance(actual, torch.Tensor):
        return ""
    if expected.dim() == 0 or expected.numel() < 3:
        return ""
    wrong = differing(expected, actual, case.atol, case.rtol)
    if case.picture == "curves" or expected.dim() == 1:
        return _curves(expected, actual, wrong, finding.name)
    expected, actual, wrong = _worst_matrix(expected, actual, wrong)
    if expected.dtype == torch.bool:
        return _who_sees_whom(expected, actual, wrong, finding.name)
    return _heat_maps(expected.double(), actual.double(), finding.name)


def _worst_matrix(*tensors: torch.Tensor) -> tuple[torch.Tensor, ...]:
    """The last two dimensions of the tensors where the last one is first True."""
    wrong = tensors[-1].reshape(-1, *tensors[-1].shape[-2:])
    first = int(wrong.flatten(1).any(1).int().argmax())
    return tuple(t.reshape(-1, *t.shape[-2:])[first][:LIMIT, :LIMIT] for t in tensors)


def _who_sees_whom(
    expected: torch.Tensor, actual: torch.Tensor, wrong: torch.Tensor, name: str
) -> str:
    def fill(value: float) -> str:
        return f"rgba({BLUE},{0.85 if value else 0.05})"

    drawings = (_cells(expected, fill, None), _cells(actual, fill, wrong))
    return _side_by_side(
        _titles(name), drawings, _("filled = True (may see), outlined = differs")
    )


def _titles(name: str) -> tuple[str, str]:
    told = reworded(name)
    return (
        _("expected {name}").format(name=told),
        _("your {name}").format(name=told),
    )


def _heat_maps(expected: torch.Tensor, actual: torch.Tensor, name: str) -> str:
    finite = expected[torch.isfinite(expected)].abs()
    scale = (float(finite.max()) if finite.numel() else 0.0) or 1.0

    # No darker than half: the numbers are written in the page's ink, light or dark.
    def fill(value: float) -> str:
        if not math.isfinite(value):
            return f"rgba({GREY},.40)"
        shade = 0.06 + 0.44 * min(abs(value) / scale, 1.0)
        return f"rgba({BLUE if value >= 0 else ORANGE},{shade:.2f})"

    maps = (expected, actual, actual - expected)
    titles = (*_titles(name), _("difference"))
    drawings = [_cells(matrix, fill, None) for matrix in maps]
    return _side_by_side(titles, drawings, _("blue = positive, orange = negative"))


def _cells(
    matrix: torch.Tensor, fill: Callable[[float], str], wrong: torch.Tensor | None
) -> str:
    """A matrix as coloured cells, with numbers in them while there is room.

    Cells of one colour are one path: a panel is kept in every copy of the notebook.
    """
    rows, columns = matrix.shape
    roomy = columns <= 6 and matrix.is_floating_point()
    width = 2 * CELL if roomy else CELL
    usual: _Places = {}
    outlined: _Places = {}
    numbers = ""
    differs = torch.zeros_like(matrix, dtype=torch.bool) if wrong is None else wrong
    for i, (values, flags) in enumerate(
        zip(matrix.tolist(), differs.tolist(), strict=True)
    ):
        for j, (value, flag) in enumerate(zip(values, flags, strict=True)):
            looks = outlined if flag else usual
            looks.setdefault(fill(value), []).append((j * width, i * CELL))
            if roomy:
                x, y = j * width + CELL, i * CELL + 13
                numbers += f'<text x="{x}" y="{y}">{_short(value)}</text>'
    drawn = _paths(usual, width, 0.5, f"rgba({GREY},.35)")
    drawn += _paths(outlined, width, 1.5, f"rgb({ORANGE})")
    if numbers:
        look = 'text-anchor="middle" font-size="10" fill="currentColor"'
        drawn += f"<g {look}>{numbers}</g>"
    return _frame(columns * width, rows * CELL, drawn)


def _short(value: float) -> str:
    """A number in a few letters; a small one is not rounded to zero."""
    return f"{value:.0e}" if 0 < abs(value) < 0.005 else f"{value:.2f}"


_Places = dict[str, list[tuple[int, int]]]  # of cells, by their colour


def _paths(places: _Places, width: int, inset: float, stroke: str) -> str:
    """Cells with a border, which lies inside of them."""
    if not places:
        return ""
    across, down = f"{width - 2 * inset:g}", f"{CELL - 2 * inset:g}"
    side = f"h{across}v{down}h-{across}z"
    paths = "".join(
        f'<path fill="{fill}" d="{"".join(f"M{x} {y}{side}" for x, y in cells)}"/>'
        for fill, cells in places.items()
    )
    return (
        f'<g transform="translate({inset} {inset})" stroke="{stroke}" '
        f'stroke-width="{2 * inset}">{paths}</g>'
    )


def _frame(width: int, height: int, content: str) -> str:
    return (
        f'<svg width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        f'xmlns="http://www.w3.org/2000/svg" role="img">{content}</svg>'
    )


def _side_by_side(titles: Sequence[str], drawings: Sequence[str], legend: str) -> str:
    figures = "".join(
        f'<figure style="display:inline-block;margin:0 1.5em 0 0;vertical-align:top">'
        f'<figcaption style="font-size:12px">{html.escape(title)}</figcaption>'
        f"{drawing}</figure>"
        for title, drawing in zip(titles, drawings, strict=True)
    )
    return f'{figures}<div style="font-size:12px;opacity:.8">{legend}</div>'


def _curves(
    expected: torch.Tensor, actual: torch.Tensor, wrong: torch.Tensor, name: str
) -> str:
    """The column (or the whole line) with the first difference, drawn over its rows."""
    if expected.dim() > 1:
        expected, actual, wrong = _worst_matrix(expected, actual, wrong)
        column = int(wrong.any(0).int().argmax())
        expected, actual = expected[:, column], actual[:, column]
        name = _("{name}, column {column}").format(name=reworded(name), column=column)
    lines = (expected.double().tolist(), actual.double().tolist())
    numbers = [v for line in lines for v in line if abs(v) < float("inf")] or [0.0]
    low, high = min(numbers), max(numbers)
    width, height = 360, 130
    told = _(
        "{name}: solid blue = expected, dashed orange = yours "
        "(from {low:.3g} to {high:.3g})"
    ).format(name=reworded(name), low=low, high=high)
    drawn = _line(lines[0], low, high, BLUE, "") + _line(
        lines[1], low, high, ORANGE, ' stroke-dasharray="5 3"'
    )
    return (
        _frame(width, height, drawn)
        + f'<div style="font-size:12px">{html.escape(told)}</div>'
    )


def _line(
    values: Sequence[float], low: float, high: float, colour: str, dashes: str
) -> str:
    span, step = (high - low) or 1.0, 340 / max(len(values) - 1, 1)
    points = " ".join(
        f"{10 + i * step:.1f},{120 - 110 * (v - low) / span:.1f}"
        for i, v in enumerate(values)
        if abs(v) < float("inf")
    )
    return (
        f'<polyline points="{points}" fill="none" stroke="rgb({colour})" '
        f'stroke-width="2"{dashes}/>'
    )
