"""Graded cells that an extra scores, in assignments that are no unit.

The module ``assignments`` of an extra is a `Handler` of one kind of cell, whose
metadata in ``source/`` name the extra: without it, the cell is not graded.
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
Key = Mapping[str, Any]  # what scores a student's cell, as plain JSON


class Handler(Protocol):
    """Scores the cell that is the check of an exercise of its own, and runs nothing."""

    EXERCISE: str  # like "quiz/questions"

    def read_keys(self, root: Path, assignment: str) -> Mapping[str, Key]:
        """The keys of an assignment's students.

        Raises:
            CourseError: there are none, or they cannot be read.
        """

    def judge(self, notebook: NotebookNode, key: Key, points: float) -> Verdict:
        """What a student's notebook earns of some points."""

    def show(self, verdict: Verdict) -> NotebookNode:
        """A verdict as the output of the cell."""


@functools.cache
def _handlers() -> dict[str, Handler]:
    """The handlers of all extras, by the grade id of their cells."""
    handlers: list[Any] = [*seams.modules("assignments")]
    return {grade_ids.of_check(handler.EXERCISE): handler for handler in handlers}


def find_handler(cell: NotebookNode) -> Handler | None:
    """The handler of one of the course's cells; None if no extra scores it."""
    return _handlers().get(cell.metadata.nbgrader.grade_id) if is_grade(cell) else None


def read_keys(
    root: Path, assignment: str, sources: Iterable[NotebookNode]
) -> dict[str, dict[str, Key]]:
    """By student and exercise, the keys to the cells that extras score.

    Raises:
        CourseError: an extra has none for its cell, or is not installed.
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
    """Has extras score their cells, and shows there how it went."""

    enabled = True

    def preprocess(self, nb: NotebookNode, resources: Resources) -> Processed:
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
