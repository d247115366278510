"""Graded cells that an extra scores, in assignments that are not units.

An extra is an optional package (see `autograder.seams`). Its module
``assignments`` scores one kind of cell, whose metadata name the extra.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

from nbconvert.preprocessors import Preprocessor
from nbformat import NotebookNode
from nbgrader.utils import is_grade

from autograder import seams
from autograder.course import grade_ids
from autograder.course.errors import CourseError
from autograder.grading.judge.verdict import Verdict
from autograder.grading.metadata import GradingMetadata
from autograder.grading.settings import Processed, Resources
from autograder.grading.task import identity
from autograder.grading.warmable import Stage

SCORED_BY = "scored_by"  # in the metadata of such a cell: the extra's name
Key = Mapping[str, Any]  # the data that score a student's cell, as plain JSON


class Handler(Protocol):
    """The interface of an extra's module, which scores one kind of cell.

    It scores a student's cell without running any code.
    """

    EXERCISE: str  # the extra and its exercise, like "quiz/questions"

    def read_keys(self, root: Path, assignment: str) -> Mapping[str, Key]:
        """Map each student to the data with which the student's cell is scored.

        Raises:
            CourseError: there are none, or they cannot be read.
        """

    def judge(self, notebook: NotebookNode, key: Key, points: float) -> Verdict:
        """The verdict on a student's notebook, with at most ``points`` points."""

    def show(self, verdict: Verdict) -> NotebookNode:
        """A verdict as the output of the cell."""


@functools.cache
def _handlers() -> dict[str, Handler]:
    """Map the grade id of each cell that an extra scores to the extra's handler."""
    handlers: list[Any] = [*seams.modules("assignments")]
    return {grade_ids.of_check(handler.EXERCISE): handler for handler in handlers}


def find_handler(cell: NotebookNode) -> Handler | None:
    """The handler of one of the course's cells; None if no extra scores it."""
    return _handlers().get(cell.metadata.nbgrader.grade_id) if is_grade(cell) else None


def read_keys(
    root: Path, assignment: str, sources: Iterable[NotebookNode]
) -> dict[str, dict[str, Key]]:
    """Map each student to the data, by exercise, with which extras score the cells.

    Raises:
        CourseError: an extra has no data for its cell, or is not installed.
    """
    keys: dict[str, dict[str, Key]] = {}
    for cell in (cell for book in sources for cell in book.cells):
        if handler := find_handler(cell):
            for student, key in handler.read_keys(root, assignment).items():
                keys.setdefault(student, {})[handler.EXERCISE] = key
        elif extra := cell.metadata.get(SCORED_BY):
            raise CourseError(
                f"{assignment} is scored by the extra `{extra}`, which is not installed"
            )
    return keys


class ExtraVerdicts(Preprocessor, Stage):
    """Lets extras score their cells, and shows the verdicts there."""

    enabled = True

    def preprocess(self, nb: NotebookNode, resources: Resources) -> Processed:
        """Add the extras' verdicts to the metadata and the outputs of their cells."""
        keys = resources.get("autograder", {}).get("keys", {})
        for cell in nb.cells:
            if handler := find_handler(cell):
                mark, key = cell.metadata.nbgrader, keys.get(handler.EXERCISE, {})
                verdict = replace(
                    handler.judge(nb, key, float(mark.points)),
                    submission=identity(resources),
                )
                metadata = GradingMetadata.of_run(nb, resources)
                metadata.checks = {**metadata.checks, mark.grade_id: verdict}
                cell.outputs = [handler.show(verdict)]
        return nb, resources
