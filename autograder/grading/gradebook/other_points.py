"""Detect results that were graded when exercises had other points than now.

Pages and exports refuse such results until grading has run again.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from nbgrader import api

from autograder.course import notebooks
from autograder.course.errors import CourseError
from autograder.grading.gradebook.book import cell_name


def points_in(unit: str, name: str, notebook: Mapping[str, Any]) -> dict[str, float]:
    """Map each graded exercise in a notebook to its points.

    ``name`` is the name of the notebook, and ``notebook`` its content as JSON values.
    """
    marks = [cell["metadata"].get("nbgrader", {}) for cell in notebook["cells"]]
    return {
        cell_name(unit, name, mark["grade_id"]): float(mark["points"])
        for mark in marks
        if mark.get("grade") or mark.get("task")
    }


def points_of_folder(unit: str, folder: Path) -> dict[str, float]:
    """Map each graded exercise in the notebooks of a folder to its points.

    Raises:
        CourseError: a notebook cannot be read.
    """
    points: dict[str, float] = {}
    for path in sorted(folder.glob("*.ipynb")):
        points |= points_in(unit, path.stem, notebooks.read(path))
    return points


def points_of_book(book: api.Gradebook, unit: str) -> dict[str, float]:
    """Map each graded exercise of an assignment to its points in the gradebook."""
    return {
        cell_name(unit, notebook.name, cell.name): cell.max_score
        for notebook in book.find_assignment(unit).notebooks
        for cell in (*notebook.grade_cells, *notebook.task_cells)
    }


def refuse_mixture(
    unit: str, student: str, now: Mapping[str, float], graded: Mapping[str, float]
) -> None:
    """Check that a student's result was graded with the current points.

    Args:
        now, graded: points by exercise, today and at grading ({} without a result).

    Raises:
        CourseError: they differ.
    """
    if graded and dict(graded) != dict(now):
        number = unit.partition("_")[0]
        raise CourseError(
            f"{student} was graded when {unit} had other points or exercises. "
            f"`autograder regrade {number} --preview` lists what changes; then run: "
            f"nbgrader generate_assignment {unit} --force; nbgrader autograde {unit}"
        )
