"""Check that a translated notebook has the same exercises as its original."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from autograder.authoring import notebook
from autograder.authoring.notebook import BEGIN, END, Cell
from autograder.authoring.trees import drop_docstrings
from autograder.course import Unit
from autograder.course.errors import Faults


def refuse_different(unit: Unit, cells: Sequence[Cell]) -> None:
    """Raise a CourseError if a translation's exercises, checks or questions differ.

    Its texts, docstrings and comments may differ.
    """
    if unit.text == unit.original:
        return
    text = unit.original.read_text(encoding="utf-8")
    originals = notebook.parse(text, unit, unit.original)
    Faults(_compare(cells, originals)).refuse()


def _compare(cells: Sequence[Cell], originals: Sequence[Cell]) -> Iterator[str]:
    """Describe each difference between the graded cells of both notebooks."""
    translated = {cell.grade_id: cell for cell in cells if cell.role}
    expected = {cell.grade_id: cell for cell in originals if cell.role}
    for name, original in expected.items():
        cell = translated.get(name)
        place = f"({original.location})"
        if cell is None:
            first = cells[0].location
            yield f'{first}: lacks the {original.role} "{original.name}" {place}'
        elif cell.points != original.points:
            yield (
                f'{cell.location}: "{cell.name}" has {cell.points:g} points, and '
                f"{original.points:g} in the original {place}"
            )
        elif _code(cell) != _code(original):
            yield f'{cell.location}: "{cell.name}" differs from the original {place}'
    for name, cell in translated.items():
        if name not in expected:
            yield f'{cell.location}: the original has no {cell.role} "{cell.name}"'
    if set(translated) == set(expected) and [*translated] != [*expected]:
        yield f"{cells[0].location}: its exercises are not in the original's order"


def _code(cell: Cell) -> tuple[str, str]:
    """Return what a translation must not change: a cell's role, and its bare code."""
    if cell.kind == "markdown":
        return cell.role, ""
    # As names and not comments, the markers are part of the tree.
    text = cell.text.replace(BEGIN, "BEGIN_SOLUTION").replace(END, "END_SOLUTION")
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return cell.role, text
    drop_docstrings(tree)
    return cell.role, ast.dump(tree)
