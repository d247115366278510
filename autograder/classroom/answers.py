"""The code that students wrote, by student and exercise."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import nbformat

from autograder.course import grade_ids, notebooks
from autograder.course.errors import CourseError

OWN = "own cells"  # the name for code that a student wrote outside of answer cells

Codes = Mapping[str, str]  # exercise -> code


def read(unit: str, root: Path) -> dict[str, Codes]:
    """Map each student to their code by exercise, as read from ``autograded/``.

    Raises:
        CourseError: nothing is graded yet, or a notebook cannot be read.
    """
    paths = sorted((root / "autograded").glob(f"*/{unit}/*.ipynb"))
    if not paths:
        raise CourseError(f"nothing is graded yet; run: nbgrader autograde {unit}")
    codes: dict[str, Mapping[str, str]] = {}
    for path in paths:
        notebook, student = notebooks.read(path), path.parts[-3]
        codes[student] = {**codes.get(student, {}), **_answers(notebook)}
    return codes


def _answers(notebook: nbformat.NotebookNode) -> dict[str, str]:
    """Map each exercise in a notebook to the student's code.

    The key `OWN` has the code of all cells that the student added.
    """
    answers: dict[str, str] = {}
    for cell in notebook.cells:
        mark = cell.metadata.get("nbgrader", {})
        if cell.cell_type != "code":
            continue
        if mark.get("solution"):
            answers[grade_ids.check_of(mark["grade_id"])] = cell.source
        elif cell.metadata.get("autograder") == "own":
            answers[OWN] = f"{answers.get(OWN, '')}\n{cell.source}"
    return answers
