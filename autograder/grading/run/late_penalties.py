"""Recompute the late penalties of submissions that are not graded again.

The deadline, the policy or points by hand may have changed since.
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
    """Recompute the late penalties of students whose results are up to date.

    Returns:
        All outcomes; that of a student whose late policy failed is undecided.

    Raises:
        GradebookError: nothing can be recorded.
    """
    earlier = list(outcomes)
    if not writer.recorder.restrict_to(AssignLatePenalties).stages:
        return earlier
    penalties = writer.book.use(lambda book: _penalties(book, writer.course.name))
    return [
        _renew(writer, outcome, penalties[outcome.student])
        if outcome.status == "up to date" and outcome.student in penalties
        else outcome
        for outcome in earlier
    ]


def _penalties(book: Gradebook, assignment: str) -> dict[str, dict[str, float]]:
    """Map each student who is late or has a penalty to the penalties by notebook."""
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
    """Recompute a student's penalties; if they change, mark feedback as out of date.

    ``before`` are the penalties so far, by notebook. Returns the outcome, which
    becomes undecided if the late policy fails.
    """
    try:
        after = {name: _penalty(writer, outcome.student, name) for name in before}
    except Exception as error:
        if isinstance(error, GradebookError):
            raise
        writer.log.exception(f"{outcome.student}: the late policy failed")
        reason = "the late policy failed; its penalty stays"
        return replace(outcome, status="undecided", reason=reason)
    # A page that is older than its result is reported as out of date.
    for name in before if after != before else ():
        os.utime(writer.published(outcome.student).path / f"{name}.ipynb")
    return outcome


def _penalty(writer: ResultWriter, student: str, name: str) -> float:
    """Run the late policy, be it nbgrader's or custom; return its recorded penalty."""
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
    writer.log.setLevel("ERROR")  # it logs three lines per late submission
    try:
        return writer.book.use(assign)
    finally:
        writer.log.setLevel(level)
