"""Late penalties of submissions that are up to date, computed anew.

A deadline is moved or a policy changed after grading, or a person gives points by hand.
nbgrader's penalty is that of the last grading, which is not repeated for that.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import replace

from nbgrader import api
from nbgrader.preprocessors import AssignLatePenalties

from autograder.course import notebooks
from autograder.grading.gradebook.book import Gradebook, GradebookError, of_assignment
from autograder.grading.run.outcome import Outcome
from autograder.grading.run.persist import ResultWriter


def recompute_late_penalties(
    writer: ResultWriter, outcomes: Iterable[Outcome]
) -> list[Outcome]:
    """The outcomes, with the penalties of today for those that are up to date.

    Raises:
        GradebookError: nothing can be recorded.
    """
    earlier = list(outcomes)
    if not writer.recorder.restrict_to(AssignLatePenalties).stages:
        return earlier
    concerned = writer.book.use(lambda book: _concerned(book, writer.course.name))
    return [
        _renew(writer, outcome, concerned[outcome.student])
        if outcome.status == "up to date" and outcome.student in concerned
        else outcome
        for outcome in earlier
    ]


def _concerned(book: Gradebook, assignment: str) -> dict[str, dict[str, float]]:
    """Who is late or has a penalty: the penalties by student and notebook."""
    rows = book.db.query(
        api.SubmittedAssignment, api.Notebook.name,
        api.SubmittedNotebook.late_submission_penalty,
    ).select_from(api.SubmittedNotebook)  # fmt: skip
    penalties: dict[str, dict[str, float]] = {}
    for entry, notebook, penalty in of_assignment(rows, assignment):
        if penalty or entry.total_seconds_late > 0:
            penalties.setdefault(entry.student_id, {})[notebook] = penalty or 0.0
    book.db.rollback()
    return penalties


def _renew(writer: ResultWriter, outcome: Outcome, before: dict[str, float]) -> Outcome:
    try:
        after = {name: _penalty(writer, outcome.student, name) for name in before}
    except Exception as error:
        if isinstance(error, GradebookError):
            raise
        writer.log.exception(f"{outcome.student}: the late policy failed")
        return replace(
            outcome,
            status="undecided",
            reason="the late policy failed; its penalty stays",
        )
    for name in before if after != before else ():  # feedback is out of date now
        os.utime(writer.published(outcome.student).path / f"{name}.ipynb")
    return outcome


def _penalty(writer: ResultWriter, student: str, name: str) -> float:
    """What nbgrader's preprocessor, or one's own, takes off today; it is recorded."""
    recorder = writer.recorder.restrict_to(AssignLatePenalties)
    notebook = notebooks.read(writer.published(student).path / f"{name}.ipynb")
    context = {"student": student, "assignment": writer.course.name, "notebook": name}

    def assign(book: Gradebook) -> float:
        recorder.run(book, notebook, {"nbgrader": context})
        names = name, writer.course.name, student
        penalty = book.find_submission_notebook(*names).late_submission_penalty
        book.finish()
        return float(penalty or 0.0)

    level = writer.log.level
    writer.log.setLevel("ERROR")  # it has three lines for each that is late, old or new
    try:
        return writer.book.use(assign)
    finally:
        writer.log.setLevel(level)
