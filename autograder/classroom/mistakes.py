"""The page beside a TA in office hours: what can go wrong, and what to ask."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from autograder.authoring.notebook import Cell, read
from autograder.bank import specification
from autograder.classroom.page import render
from autograder.course import Unit
from autograder.course.files import write
from autograder.oracle.specification import Specification
from autograder.student import references
from autograder.student.points import WEIGHTS, aspects, possible


@dataclass(frozen=True)
class Entry:
    """An exercise on the page: its heading in the notebook, its points, by aspect."""

    heading: str
    points: float
    exercise: Specification
    aspects: Mapping[str, float]


def as_html(unit: Unit) -> str:
    """The page of a unit, exercise by exercise in the order of its notebook."""
    cells = read(unit)
    title = cells[0].text.splitlines()[0].lstrip("# ")
    entries = list(_entries(cells))
    present = dict.fromkeys([*WEIGHTS, *(a for e in entries for a in e.aspects)])
    used = [a for a in present if any(a in entry.aspects for entry in entries)]
    return render(
        "mistakes.html.j2", unit.label, title=title, entries=entries, aspects=used
    )


def make(unit: Unit, folder: Path) -> Path:
    """Write the page of a unit into a folder; where it is.

    Raises:
        CourseError: it cannot be written.
    """
    path = folder / f"{unit.label}.html"
    write(path, as_html(unit))
    return path


def _entries(cells: Sequence[Cell]) -> Iterator[Entry]:
    heading = ""
    for cell in cells:
        if cell.kind == "markdown":
            found = re.findall(r"^#+ (Exercise .+)$", cell.text, re.MULTILINE)
            heading = found[-1] if found else heading
        elif cell.role == "check":
            exercise = specification(cell.name)
            yield Entry(
                heading or exercise.title, cell.points, exercise, _aspects(cell)
            )


def _aspects(cell: Cell) -> dict[str, float]:
    """An exercise's points by aspect, as a check divides them."""
    unit = cell.name.split("/")[0]
    exercise = replace(references.load(unit)[cell.name], points=cell.points)
    present = [a for case in exercise.cases for a in aspects(case)]
    return possible(exercise, dict.fromkeys(present))
