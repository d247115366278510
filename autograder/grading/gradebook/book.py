"""nbgrader's gradebook, with one transaction per submission and patience with locks."""

from __future__ import annotations

import contextlib
import datetime
import logging
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from nbgrader import api, dbutil
from sqlalchemy.exc import OperationalError, SAWarning
from sqlalchemy.orm import Query, scoped_session, sessionmaker
from sqlalchemy.orm import Session as SqlSession
from tornado.log import app_log

from autograder.course.errors import CourseError

_FULL = "is full"  # as SQLite says it

Result = TypeVar("Result")
Row = TypeVar("Row", api.Grade, api.Comment)
ScoresByCell = dict[str, float | None]  # grade id -> automatic score


def install() -> None:
    """Speed up new gradebooks: find their schema version without a subprocess."""
    api.get_alembic_version = _newest_version


def _newest_version() -> str:
    from alembic.script import ScriptDirectory  # only a new gradebook needs it

    return str(ScriptDirectory(dbutil.ALEMBIC_DIR).get_current_head())


class GradebookError(CourseError):
    """The gradebook cannot be used: without it no submission can be recorded."""


class Session(SqlSession):
    """A session in which nbgrader's many commits wait for ``finish``."""

    def commit(self) -> None:
        self.flush()

    def finish(self) -> None:
        super().commit()


class Gradebook(api.Gradebook):  # type: ignore[misc]
    """A gradebook in which nothing is written before ``finish``, and then all of it."""

    db: scoped_session[Session]

    def __init__(self, db_url: str, course_id: str):
        super().__init__(db_url, course_id)
        self.db.remove()
        make = sessionmaker(class_=Session, autoflush=True, bind=self.engine)
        self.db = scoped_session(make)

    def close(self) -> None:
        """Do nothing, because preprocessors close a gradebook that is not theirs."""

    def finish(self) -> None:
        self.db().finish()

    def dispose(self) -> None:
        super().close()

    def scores(self, assignment: str) -> dict[tuple[str, str], ScoresByCell]:
        """The automatic scores: (student, notebook) -> grade id -> score."""
        rows = cells_of(self, api.Grade, assignment, api.Grade.auto_score)
        scores: dict[tuple[str, str], ScoresByCell] = {}
        for student, notebook, cell, score in rows:
            scores.setdefault((student, notebook), {})[cell] = score
        self.db.rollback()
        return scores

    def enrol(
        self, student: str, assignment: str, stamp: datetime.datetime | None,
        create: bool,
    ) -> None:  # fmt: skip
        """Add missing rows for a submission and, if ``create``, for its student.

        ``stamp`` is the time of the hand-in, in UTC.
        """
        if create:
            self.update_or_create_student(student)
        else:
            self.find_student(student)
        with warnings.catch_warnings():
            # nbgrader's own way of adding rows; SQLAlchemy finds it odd, harmlessly.
            warnings.simplefilter("ignore", SAWarning)
            self.update_or_create_submission(assignment, student, timestamp=stamp)

    def record_all(
        self, name: str, assignment: str, student: str,
        score: float | None, comment: str,
    ) -> None:  # fmt: skip
        """Give all automatically graded cells of a notebook one score, with the reason.

        None is no score: existing scores and the late penalty then stay as they are.
        """
        notebook = self.find_submission_notebook(name, assignment, student)
        if score is not None:
            notebook.late_submission_penalty = None
        for grade in notebook.grades:
            set_score(grade, grade.auto_score if score is None else score)
            grade.needs_manual_grade |= score is None
        for row in notebook.comments:
            row.auto_comment = comment


class GradebookHandle:
    """The gradebook, opened when needed; waits up to ``seconds`` while it is locked."""

    def __init__(
        self, db_url: str, course_id: str, seconds: float, log: logging.Logger
    ):
        self._place, self._seconds, self._log = (db_url, course_id), seconds, log
        self._open: Gradebook | None = None

    def use(self, action: Callable[[Gradebook], Result]) -> Result:
        """Run an action on the gradebook, and return its result; retry while locked.

        Raises:
            GradebookError: it stayed locked, or cannot be used at all.
        """
        deadline, has_warned = time.monotonic() + self._seconds, False
        while True:
            try:
                with _silence_log():
                    if self._open is None:
                        self._open = Gradebook(*self._place)
                    return action(self._open)
            except (OperationalError, api.InvalidEntry) as error:
                self.close()
                if not _is_temporary(error) or time.monotonic() > deadline:
                    raise GradebookError(_explain_error(error)) from None
            except BaseException:
                self.close()
                raise
            if not has_warned:
                self._log.warning("The gradebook is locked; waiting for it.")
            has_warned = True
            time.sleep(0.25)

    def close(self) -> None:
        """Close the gradebook, and discard whatever was not finished."""
        if self._open is not None:
            self._open.dispose()
            self._open = None


@contextlib.contextmanager
def sharing(gradebook: Gradebook, preprocessors: Iterable[type]) -> Iterator[None]:
    """Make preprocessors, which open a ``Gradebook`` by themselves, use this one."""
    # Each module has imported the name by itself, so it is replaced in all.
    names = {base.__module__ for kind in preprocessors for base in kind.__mro__}
    modules = [vars(sys.modules[name]) for name in names if name in sys.modules]
    users = [m for m in modules if m.get("Gradebook") is api.Gradebook]
    for module in users:
        module["Gradebook"] = lambda *_, **__: gradebook
    try:
        yield
    finally:
        for module in users:
            module["Gradebook"] = api.Gradebook


@contextlib.contextmanager
def _silence_log() -> Iterator[None]:
    """Keep nbgrader from logging an error, with a traceback, that it raises as well."""
    before, app_log.disabled = app_log.disabled, True
    try:
        yield
    finally:
        app_log.disabled = before


def _is_temporary(error: OperationalError | api.InvalidEntry) -> bool:
    """Whether waiting can help, as the database is locked or briefly unavailable.

    nbgrader reports a row that cannot be written as an invalid entry.
    """
    lasting = (
        "no such table", "no such column", "readonly", "read-only", _FULL, "syntax",
        "authentication failed", "does not exist", "unable to open database file",
        "disk i/o error",
    )  # fmt: skip
    cause = error.orig if isinstance(error, OperationalError) else error
    return not any(word in str(cause).lower() for word in lasting)


def rows_of(
    book: api.Gradebook, kind: type[Row], student: str, assignment: str, name: str
) -> dict[str, Row]:
    """Map each grade id of a submitted notebook to its grade, or to its comment."""
    rows = cells_of(book, kind, assignment, kind)
    rows = rows.filter(api.SubmittedAssignment.student_id == student)
    return {cell: row for _, _, cell, row in rows.filter(api.Notebook.name == name)}


def set_score(grade: api.Grade, score: float | None) -> None:
    """Set an answer's automatic score, and note whether a person has to look at it.

    A person has to if the score is None, or if there are already points by hand.
    """
    grade.auto_score = score
    grade.needs_manual_grade = grade.manual_score is not None or score is None


def cells_of(
    book: api.Gradebook, kind: type[Row], assignment: str, *columns: Any
) -> Query[Any]:
    """Query grades or comments for rows (student, notebook, grade id, *columns)."""
    names = (api.SubmittedAssignment.student_id, api.Notebook.name, api.BaseCell.name)
    rows = (
        book.db.query(*names, *columns)
        .select_from(kind)
        .join(api.SubmittedNotebook, kind.notebook_id == api.SubmittedNotebook.id)
        .join(api.BaseCell, kind.cell_id == api.BaseCell.id)
    )
    return of_assignment(rows, assignment)


def cell_name(unit: str, notebook: str, grade_id: str) -> str:
    """An exercise's name: its grade id, or NOTEBOOK/ID outside the unit's notebook."""
    return grade_id if notebook == unit else f"{notebook}/{grade_id}"


@dataclass(frozen=True)
class CellPoints:
    """A student's points in a cell; None where there are none yet.

    ``replaced`` says whether points by hand replace the automatic ones.
    """

    student: str
    cell: str
    total: float | None
    by_hand: float | None
    automatic: float | None = None
    replaced: bool = False


def points_of(book: api.Gradebook, unit: str) -> Iterator[CellPoints]:
    """Yield the points of each student in each cell of an assignment, in one query."""
    grade = api.Grade
    columns = (grade.auto_score, grade.manual_score, grade.extra_credit)
    rows = cells_of(book, grade, unit, *columns)
    for student, notebook, cell, auto, manual, extra in rows:
        score = auto if manual is None else manual
        # None if a person has given neither points nor extra credit.
        by_hand = None if manual is None and not extra else (manual or 0) + (extra or 0)
        total = None if score is None else score + (extra or 0)
        name = cell_name(unit, notebook, cell)
        yield CellPoints(student, name, total, by_hand, auto, manual is not None)


def penalties_of(book: api.Gradebook, unit: str) -> dict[str, float]:
    """Map each student to the late penalty in an assignment; 0 if there is none."""
    penalties = book.db.query(
        api.SubmittedAssignment.student_id,
        api.SubmittedNotebook.late_submission_penalty,
    ).select_from(api.SubmittedNotebook)
    totals: dict[str, float] = {}
    for student, penalty in of_assignment(penalties, unit):
        totals[student] = totals.get(student, 0.0) + (penalty or 0.0)
    return totals


def of_assignment(rows: Query[Any], assignment: str) -> Query[Any]:
    """Restrict rows of submitted notebooks to an assignment."""
    return (
        rows.join(
            api.SubmittedAssignment,
            api.SubmittedNotebook.assignment_id == api.SubmittedAssignment.id,
        )
        .join(api.Notebook, api.SubmittedNotebook.notebook_id == api.Notebook.id)
        .join(api.Assignment, api.Notebook.assignment_id == api.Assignment.id)
        .filter(api.Assignment.name == assignment)
    )


def book_files(url: str) -> list[Path]:
    """The paths that a gradebook writes to; none if it is on a server."""
    path = Path(url.removeprefix("sqlite:///"))
    return [path, path.parent] if url.startswith("sqlite:///") else []


def first_line(error: Exception) -> str:
    """The first line of a database error, without the SQL statement."""
    return str(getattr(error, "orig", None) or error).splitlines()[0]


def _explain_error(error: Exception) -> str:
    """Say what is wrong with the gradebook, and what a person can do about it."""
    message = first_line(error)
    remedy = "close what else uses it, or see to its server, or its file and folder"
    if _FULL in message:
        remedy = "make room on its disk"
    remedy += ", and run the same command again"
    return f"the gradebook cannot be used ({message}); {remedy}"
