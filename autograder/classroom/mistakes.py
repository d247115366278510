"""Make a page for TAs in office hours: what can go wrong in a unit, and what to ask."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from autograder.authoring.catalogue import specification
from autograder.authoring.edition import read
from autograder.authoring.notebook import Cell
from autograder.authoring.points_by_aspect import shares
from autograder.authoring.specification import Specification
from autograder.classroom.page import render
from autograder.course import Unit


@dataclass(frozen=True)
class Section:
    """An exercise on the page: its heading in the notebook, its points by aspect."""

    heading: str
    points: float
    exercise: Specification
    aspects: Mapping[str, float]


def as_html(unit: Unit) -> str:
    """The page of a unit, exercise by exercise in the order of its notebook."""
    cells = read(unit)
    title = cells[0].text.splitlines()[0].lstrip("# ")
    entries = list(sections(cells))
    used = list(dict.fromkeys(a for entry in entries for a in entry.aspects))
    return render(
        "mistakes.html.j2", unit.label, title=title, entries=entries, aspects=used
    )


def sections(cells: Sequence[Cell]) -> Iterator[Section]:
    """Yield a section for each exercise that is graded."""
    heading = ""
    for cell in cells:
        if cell.kind == "markdown":
            for match in cell.words.heading_pattern.finditer(cell.text):
                heading = cell.text[match.start() :].splitlines()[0].lstrip("# ")
        elif cell.role == "check" and not cell.is_given:
            exercise = specification(cell.name)
            by_aspect = shares(cell.name, cell.points)
            yield Section(heading, cell.points, exercise, by_aspect)
