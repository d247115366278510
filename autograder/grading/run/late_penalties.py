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
    known = list(outcomes)
    if not writer.recorder.only(AssignLatePenalties).stages:
        return known
    concerned = writer.book.use(lambda book: _concerned(book, writer.course.name))
    return [
        _renewed(writer, one, concerned[one.student])
        if one.status == "up to date" and one.student in concerned
        else one
        for one in known
    ]


def _concerned(book: Gradebook, assignment: str) -> dict[str, dict[str, float]]:
    """Who is late or has a penalty: the penalties by student and notebook."""
    rows = book.db.query(
        api.SubmittedAssignment, api.Notebook.name,
        api.SubmittedNotebook.late_submission_penalty,
    ).select_from(api.SubmittedNotebook)  # fmt: skip
    found: dict[str, dict[str, float]] = {}
    for entry, notebook, penalty in of_assignment(rows, assignment):
        if penalty or entry.total_seconds_late > 0:
            found.setdefault(entry.student_id, {})[notebook] = penalty or 0.0
    book.db.rollback()
    return found


def _renewed(writer: ResultWriter, one: Outcome, before: dict[str, float]) -> Outcome:
    try:
        after = {name: _penalty(writer, one.student, name) for name in before}
    except Exception as error:
        if isinstance(error, GradebookError):
            raise
        writer.log.exception(f"{one.student}: the late policy failed")
        return replace(
            one, status="undecided", reason="the late policy failed; its penalty stays"
        )
    for name in before if after != before else ():  # feedback is out of date now
        os.utime(writer.published(one.student).path / f"{name}.ipynb")
    return one


def _penalty(writer: ResultWriter, student: str, name: str) -> float:
    """What nbgrader's preprocessor, or one's own, takes off today; it is recorded."""
    recorder = writer.recorder.only(AssignLatePenalties)
    notebook = notebooks.read(writer.published(student).path / f"{name}.ipynb")
    its = {"student": student, "assignment": writer.course.name, "notebook": name}

    def assign(book: Gradebook) -> float:
        recorder.run(book, notebook, {"nbgrader": its})
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
