"""Show a small input, with the expected and the student's result side by side.

Each result is at most 6 x 6 entries or a line of text, and the first difference is
marked in both results.
"""

from __future__ import annotations

import html
import itertools
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass

import torch

from autograder.checks.boxes import BLUE
from autograder.checks.exercise import (
    RAISED,
    Answers,
    Case,
    CaseResult,
    Finding,
    Other,
    Value,
)
from autograder.checks.language import _, translate
from autograder.checks.probes.default import CALL, MAKE
from autograder.checks.values import differing

SIDE = 6  # rows and columns of a tensor that is shown
LONGEST = 120  # characters of a text that is shown
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[\w.+-]+|\s+|.', re.DOTALL)
_DIGITS = range(4, 17)
_SPACE = "\u00a0"
# Without the page's own padding, which would shift the first row.
_GRID = "white-space:pre-wrap;padding:0;background:none"
_FILLED = f"background-color:{BLUE};color:#fff"  # a cell of a mask that is True

Rows = list[list[str]]  # the cells of each line


@dataclass(frozen=True)
class SideBySide:
    """A small case on which an answer fails: its inputs and both results, as text.

    Attributes:
        name: the name of the result; "" if the case expects only one.
        expected, actual: the cells of each row of the results.
        first_difference: its row and its cell; None if none can be marked.
        remark: a difference that the cells do not show, such as a dtype.
        is_mask: whether the result is a mask, in which cells with True are filled.
    """

    inputs: tuple[tuple[str, str], ...]
    name: str
    expected: Rows
    actual: Rows
    first_difference: tuple[int, int] | None
    remark: str = ""
    is_mask: bool = False

    def lines(self) -> list[str]:
        """The comparison as lines of text; a row that differs is marked at its end."""
        lines = [f"{name} = {value}" for name, value in self.inputs]
        if self.name:
            lines.append(f"{self.name}:")
        heads = _("expected"), _("yours")
        if len(self.expected) == len(self.actual) == 1:
            width = max(map(len, heads))
            lines += [
                f"  {head:<{width}}  {_join(rows[0])}"
                for head, rows in zip(heads, (self.expected, self.actual), strict=True)
            ]
            lines += self._carets(width + 4)
        else:
            lines += self._columns(heads)
        return [*lines, self.remark] if self.remark else lines

    def _carets(self, margin: int) -> list[str]:
        """Return a line of carets below the first cell that differs; [] for none.

        Results have one row here, with ``margin`` characters before the cells.
        """
        if self.first_difference is None:
            return []
        cells, cell = self.actual[0], self.first_difference[1]
        start = len(_join([*cells[:cell], ""])) if cell else 0
        length = len(cells[cell]) if cell < len(cells) else 1
        return [" " * (margin + start) + "^" * length]

    def _columns(self, heads: tuple[str, str]) -> list[str]:
        """Both results in two columns, with an arrow at the first row that differs."""
        left = [heads[0], *map(_join, self.expected)]
        right = [heads[1], *map(_join, self.actual)]
        width = max(map(len, left)) + 3
        pairs = itertools.zip_longest(left, right, fillvalue="")
        marked = self.first_difference[0] + 1 if self.first_difference else -1
        return [
            f"  {first:<{width}}{second}{'   <--' if n == marked else ''}".rstrip()
            for n, (first, second) in enumerate(pairs)
        ]

    @property
    def html(self) -> str:
        """The comparison as HTML: two columns below the inputs, a difference marked."""
        inputs = "".join(
            f"<div><code>{html.escape(f'{name} = {value}')}</code></div>"
            for name, value in self.inputs
        )
        cells = "".join(
            '<div style="padding-right:2em">'
            f"{html.escape(f'{self.name}, {head}' if self.name else head)}<br>"
            f'<code style="{_GRID}">{self._rows_html(rows)}</code></div>'
            for head, rows in (
                (_("expected"), self.expected),
                (_("yours"), self.actual),
            )
        )
        remark = f"<div>{html.escape(self.remark)}</div>" if self.remark else ""
        results = f'<div style="display:flex;flex-wrap:wrap">{cells}</div>'
        return inputs + results + remark

    def _rows_html(self, rows: Rows) -> str:
        """Rows as HTML: the first difference is underlined, cells of masks filled."""
        lines = []
        for n, cells in enumerate(rows):
            escaped = [html.escape(cell) for cell in cells]
            if self.is_mask:
                filled = [cell.startswith("T") for cell in escaped]
                escaped = [cell.rstrip(_SPACE) for cell in escaped]
            if (
                self.first_difference
                and self.first_difference[0] == n
                and self.first_difference[1] < len(cells)
            ):
                cell = self.first_difference[1]
                text = escaped[cell].rstrip(_SPACE)
                space = escaped[cell][len(text) :]
                style = "text-decoration:underline;text-decoration-thickness:2px"
                escaped[cell] = f'<b style="{style}">{text}</b>{space}'
            if self.is_mask:
                escaped = [
                    f'<span style="padding:0 .35em;{_FILLED if is_true else ""}">'
                    f"{cell}</span>"
                    for cell, is_true in zip(escaped, filled, strict=True)
                ]
            lines.append("".join(escaped).replace(_SPACE, "&nbsp;"))
        return "<br>".join(lines)


def compare_side_by_side(result: CaseResult) -> SideBySide:
    """Compare the first wrong result of a small case with the expected one.

    A result that is missing, or too large to be shown, becomes "...".
    """
    finding = next(finding for finding in result.findings if finding.problem)
    name, expected, actual = finding.name, finding.expected, finding.actual
    rows, place = [["..."]], None
    if finding.problem == RAISED:  # shown beside the first result that was expected
        name, expected = next(iter(result.case.expected.items()))
        rows = [[translate(finding.message.split("\n")[0])[:LONGEST]]]
    elif actual is not None and is_shown(actual):
        rows, place = _rows(actual), _first_difference(finding, result.case)
    assert expected is not None
    expected_rows, rows = _distinguish(expected, actual, place, rows)
    return SideBySide(
        tuple(_named_inputs(result.case.inputs)),
        translate(name) if len(result.case.expected) > 1 else "",
        expected_rows, rows, place,
        remark="" if finding.problem in (RAISED, "values") else finding.message,
        is_mask=getattr(finding.expected, "dtype", None) == torch.bool,
    )  # fmt: skip


def is_shown(value: Value) -> bool:
    """Whether a value is small enough to be shown whole."""
    if isinstance(value, torch.Tensor):
        sides = [side for side in value.shape if side != 1]
        return len(sides) <= 2 and all(side <= SIDE for side in sides)
    return isinstance(value, Other) or len(value) <= LONGEST


def named_text(inputs: Answers) -> str:
    """Return the inputs of a case as text, one line each.

    The build compares the sizes of cases by the length of this text.
    """
    return "\n".join(f"{name} = {value}" for name, value in _named_inputs(inputs))


def _named_inputs(inputs: Answers) -> list[tuple[str, str]]:
    """Return a case's inputs as pairs of a name and a value in one line.

    The input `CALL`, which only describes the call for the probe, is left out.
    """
    return [
        (name.removeprefix(MAKE), _in_a_line(value))
        for name, value in inputs.items()
        if name != CALL
    ]


def _in_a_line(value: Value) -> str:
    """An input as one line: numbers in nested lists, JSON or text."""
    if isinstance(value, torch.Tensor):
        if value.is_floating_point():
            return str(_nested(value.tolist()))
        return str(value.tolist())
    try:  # JSON without ASCII escapes, as people write it
        return json.dumps(json.loads(str(value)), ensure_ascii=False)
    except ValueError:
        return str(value) or '""'


def _nested(value: object) -> object:
    """Round floats, in nested lists, to four digits."""
    if isinstance(value, list):
        return [_nested(part) for part in value]
    return float(f"{value:.4g}")


def _rows(value: Value, digits: int = _DIGITS[0]) -> Rows:
    """Split a value into rows of cells: the entries of a matrix, the words of a text.

    ``digits`` is the number of significant digits of a float.
    """
    if isinstance(value, Other):
        return [[_("of type {kind}").format(kind=value.kind)]]
    if isinstance(value, str):
        return [_TOKEN.findall(value) or ['""']]
    form = f".{digits}g" if value.is_floating_point() else ""
    if value.dtype == torch.bool:
        cells = ["FT"[entry] for entry in value.flatten().tolist()]
    else:
        cells = [f"{entry:{form}}" for entry in value.flatten().tolist()]
    width = value.size(-1) if value.dim() else 1
    if not width or not cells:
        return [["[]"]]
    longest = max(map(len, cells))
    aligned = [cell.rjust(longest) for cell in cells]
    return [
        _spaced(aligned[start : start + width]) for start in range(0, len(cells), width)
    ]


def _spaced(cells: Sequence[str]) -> list[str]:
    """Put a no-break space after each cell but the last, so that no row wraps there."""
    return [*(f"{cell}{_SPACE}" for cell in cells[:-1]), *cells[-1:]]


def _join(cells: Sequence[str]) -> str:
    return "".join(cells).replace(_SPACE, " ")


def _first_difference(finding: Finding, case: Case) -> tuple[int, int] | None:
    """The row and the cell of the first difference; None if dtypes or shapes differ."""
    if isinstance(finding.expected, str) and isinstance(finding.actual, str):
        texts = _rows(finding.expected)[0], _rows(finding.actual)[0]
        pairs = itertools.zip_longest(*texts)
        different = (n for n, (first, second) in enumerate(pairs) if first != second)
        return 0, next(different, 0)  # equal tokens: no text, and two quotes
    if not finding.tensors:
        return None
    expected, actual = finding.tensors
    if expected.shape != actual.shape or expected.dtype != actual.dtype:
        return None
    wrong = differing(expected, actual, case.atol, case.rtol).flatten().tolist()
    width = expected.size(-1) if expected.dim() else 1
    row, cell = divmod(wrong.index(True), width) if any(wrong) else (0, 0)
    return row, cell


def _distinguish(
    expected: Value,
    actual: Value | None,
    first_difference: tuple[int, int] | None,
    rows: Rows,
) -> tuple[Rows, Rows]:
    """Return both results as rows, with enough digits to show their first difference.

    ``rows`` is the actual result with the usual number of digits.
    """
    expected_rows = _rows(expected)
    if (
        first_difference is None
        or actual is None
        or not isinstance(expected, torch.Tensor)
    ):
        return expected_rows, rows
    for digits in _DIGITS if expected.is_floating_point() else ():
        expected_rows, rows = _rows(expected, digits), _rows(actual, digits)
        row, cell = first_difference
        if expected_rows[row][cell].strip() != rows[row][cell].strip():
            break
    return expected_rows, rows
