"""Extract the contents of a unit's notebook for students: exercises and short path."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import nbformat

from autograder.authoring.notebook import Cell, without_markers
from autograder.authoring.numbers import TITLE
from autograder.authoring.trees import defined_names
from autograder.checks.contents import Contents, ExercisePlace
from autograder.course import Unit, grade_ids, manifest, records_attempts
from autograder.course.language import Wording


def read(unit: Unit, cells: Sequence[Cell], source: str) -> Contents:
    """Extract a unit's contents from its cells and from the built source notebook."""
    words = cells[0].words
    places = {
        grade_ids.exercise_of(name): place for name, place in _places(source, words)
    }
    chosen = manifest.path_of(unit)
    return Contents(
        int(unit.number),
        TITLE.findall(cells[0].text)[0],
        places,
        tuple(name for name in places if name in chosen),
        tuple(cell.points for cell in cells if cell.role == "written"),
        records_attempts(unit.root),
    )


def _places(source: str, words: Wording) -> Iterator[tuple[str, ExercisePlace]]:
    """Yield each check's grade id, and where its exercise is in the notebook."""
    number = text = ""
    for cell in nbformat.reads(source, as_version=4).cells:
        mark = cell.metadata.get("nbgrader", {})
        if cell.cell_type == "markdown" and (
            headings := words.heading_pattern.findall(cell.source)
        ):
            # Links lead to the text of the exercise, by the id of its cell.
            number, text = headings[-1], cell.id
        elif cell.cell_type == "code" and mark.get("solution"):
            names = tuple(defined_names(without_markers(cell.source)))
            place = ExercisePlace(number, text, names)
            yield grade_ids.check_of(mark["grade_id"]), place
