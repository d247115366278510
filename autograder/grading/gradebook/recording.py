"""Write one submission to the gradebook, completely or not at all."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from nbformat import NotebookNode
from nbgrader.api import Grade
from nbgrader.utils import is_grade, is_solution
from traitlets.config import Config

from autograder.grading.grade import run_all
from autograder.grading.gradebook.book import Gradebook, ScoresByCell, rows_of, sharing
from autograder.grading.gradebook.hand_log import WHY
from autograder.grading.settings import Stages
from autograder.grading.task import Graded, Task, resources_of

NEW_ANSWER = "new answer"  # why points by hand are gone


@dataclass(frozen=True)
class Recorder:
    """Runs nbgrader's preprocessors that record results in the gradebook.

    ``create`` says whether unknown students are added to the gradebook.
    """

    stages: Stages
    config: Config
    db_url: str
    create: bool

    def restrict_to(self, kind: type) -> Recorder:
        """Return a recorder with only the stages that are subclasses of ``kind``."""
        stages = tuple(stage for stage in self.stages if issubclass(stage, kind))
        return replace(self, stages=stages)

    def run(
        self, book: Gradebook, notebook: NotebookNode, resources: dict[str, Any]
    ) -> None:
        """Run the preprocessors on a notebook, within the book's transaction."""
        resources["nbgrader"]["db_url"] = self.db_url
        with sharing(book, self.stages):
            run_all(self.stages, notebook, resources, self.config)

    def record(
        self, book: Gradebook, task: Task, graded: Graded,
        stamp: datetime.datetime | None, extra: datetime.timedelta | None,
        before: NotebookNode | None = None, tell: Callable[[str], None] = print,
    ) -> ScoresByCell:  # fmt: skip
        """Record a graded notebook in one transaction; return the resulting scores.

        Args:
            stamp, extra: when it was handed in, and the student's extension.
            before: the notebook that was graded the last time.
            tell: called with a line for each answer that loses its points by hand.

        Raises:
            GradingInfrastructureError: a verdict does not belong to its cell.
        """
        names, refused = (task.student, task.assignment), graded.metadata.refused
        place = task.notebook, task.assignment, task.student
        book.enrol(*names, stamp, self.create)
        if extra is not None:  # None: keep an extension set in the gradebook itself
            book.find_submission(task.assignment, task.student).extension = extra
        if not graded.decided:  # it waits for a person
            book.record_all(*place, None, f"Not graded yet: {refused}")
        elif refused:
            book.record_all(*place, 0.0, f"Not graded: {refused}")
        else:
            self.run(book, graded.notebook, resources_of(task, graded.metadata))
        grades = rows_of(book, Grade, *names, task.notebook)
        # For the log of points by hand, if some are withdrawn below.
        book.db().info[WHY] = NEW_ANSWER
        if before is not None and graded.decided and not refused:
            for name, points in _withdraw_points(grades, before, graded.notebook):
                tell(
                    f"{task.student}: a new answer to {name} waits for a person; "
                    f"{points:g} points by hand were given for the one before"
                )
        scores = {name: grade.auto_score for name, grade in grades.items()}
        book.finish()
        return scores


def answers(notebook: NotebookNode) -> dict[str, str]:
    """Map the grade id of each answer that a person grades to the answer's text."""
    written = (c for c in notebook.cells if is_grade(c) and is_solution(c))
    return {cell.metadata.nbgrader.grade_id: cell.source for cell in written}


def _withdraw_points(
    grades: Mapping[str, Grade], before: NotebookNode, after: NotebookNode
) -> Iterator[tuple[str, float]]:
    """Withdraw points by hand from changed answers; yield (grade id, points) of each.

    A person has to grade the new answer again, unless it is empty.
    """
    graded_answers = answers(before)
    for name, text in answers(after).items():
        points = grades[name].manual_score if name in grades else None
        if points is not None and graded_answers.get(name, text) != text:
            grades[name].manual_score = None
            # An empty answer already has a score: nbgrader gives it 0.
            grades[name].needs_manual_grade = grades[name].auto_score is None
            yield name, points
