"""Write one submission to the gradebook as a whole, or nothing of it."""

from __future__ import annotations

import datetime

from nbgrader.api import Grade
from traitlets.config import Config

from autograder.grading.grade import run_all
from autograder.grading.gradebook import extensions
from autograder.grading.gradebook.book import Gradebook, ScoresByCell, rows_of, sharing
from autograder.grading.settings import Stages
from autograder.grading.task import Graded, Task, resources_of


def record(
    book: Gradebook, task: Task, graded: Graded, stamp: datetime.datetime | None,
    extra: datetime.timedelta | None, create: bool, stages: Stages,
    config: Config, db_url: str,
) -> ScoresByCell:  # fmt: skip
    """Record a graded notebook in one transaction; the scores as they are then.

    Args:
        stamp: when it was handed in; ``extra``: the time that its student was given.
        create: whether students who are not known may be entered.
        stages: nbgrader's preprocessors that record.

    Raises:
        Undecided: a verdict is not its cell's.
    """
    names = task.student, task.assignment
    book.enrol(*names, stamp, create)
    extensions.record(book, task.assignment, task.student, extra)
    if not graded.decided:
        book.record_open(*names, task.notebook, graded.refused)
    elif graded.refused:
        book.record_zero(*names, task.notebook, graded.refused)
    else:
        resources = resources_of(task)
        resources["nbgrader"]["db_url"] = db_url
        with sharing(book, stages):
            run_all(stages, graded.notebook, resources, config)
    grades = rows_of(book, Grade, *names, task.notebook)
    scores = {name: grade.auto_score for name, grade in grades.items()}
    book.finish()
    return scores
