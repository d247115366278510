"""Due dates: read with a time zone or refused, and written below a unit's title.

nbgrader itself misreads dates without a warning: it ignores the offset in
``23:59 +01:00``, takes ``+0100`` for a hundred seconds, and reads a date
without a zone as UTC.
"""

from __future__ import annotations

import contextlib
import datetime
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode
from nbgrader import api, utils
from nbgrader.coursedir import CourseDirectory

from autograder.course.access import require_access
from autograder.course.errors import CourseError, UsageError
from autograder.grading.gradebook.book import book_files
from autograder.grading.intake import parse_stamp

_LINE = re.compile(r"^\*\*Due (.{1,80})\*\*$", re.MULTILINE)


def due_date(text: str) -> datetime.datetime:
    """Parse a due date that a person wrote, into UTC without zone, as in the gradebook.

    Raises:
        CourseError: it is no date, or has no time zone.
    """
    text = text.strip()
    moment = parse_stamp(text)
    if moment is None:
        raise UsageError(
            f'cannot read the due date "{text}"; write it like '
            '"2026-11-30 23:59 Europe/Berlin" or "2026-11-30 23:59 +01:00"'
        )
    # A text that is still a date with a zone added has none.
    if text[-1].isdigit() and parse_stamp(f"{text} UTC"):
        raise UsageError(
            f'the due date "{text}" has no time zone; write it like '
            f'"{text} Europe/Berlin", "{text} +01:00" or "{text} UTC"'
        )
    return moment


def install(grace_minutes: float = 0) -> None:
    """Make nbgrader read times as this module does, and refuse unclear due dates.

    Args:
        grace_minutes: for how long after a deadline nothing counts as late.
    """
    from nbgrader.apps.dbapp import DbAssignmentAddApp

    global _grace
    _grace = datetime.timedelta(minutes=grace_minutes)
    # Only the grace period can change once all is installed.
    if utils.parse_utc is _parse_utc:
        return
    utils.parse_utc = _parse_utc
    DbAssignmentAddApp.start = _refusing(DbAssignmentAddApp.start)
    api.SubmittedAssignment.duedate = property(own_due_date)


def find_due_date(coursedir: CourseDirectory) -> datetime.datetime | None:
    """Return an assignment's due date without extensions, in UTC without zone."""
    url, course = coursedir.db_url, coursedir.course_id
    if all(path.exists() for path in book_files(url)):
        with api.Gradebook(url, course) as book, contextlib.suppress(api.MissingEntry):
            due: datetime.datetime | None
            due = book.find_assignment(coursedir.assignment_id).duedate
            return due
    return None


def own_due_date(submission: api.SubmittedAssignment) -> datetime.datetime | None:
    """Return a submission's deadline, with extension and grace period.

    The result is in UTC without zone; None if the assignment has no due date.
    """
    due: datetime.datetime | None = submission.assignment.duedate
    return last_moment(due, submission.extension) if due else None


def last_moment(
    due: datetime.datetime, extension: datetime.timedelta | None = None
) -> datetime.datetime:
    """The last moment that is in time: the deadline plus extension and grace period."""
    return due + (extension or datetime.timedelta()) + _grace


_grace = datetime.timedelta()  # set by `install`
_plain_utc = utils.parse_utc


def _parse_utc(time: object) -> Any:
    """Parse a time into UTC without zone; this replaces nbgrader's own parser.

    nbgrader's parser still gets what `parse_stamp` does not understand.
    """
    moment = parse_stamp(time.strip()) if isinstance(time, str) else None
    return _plain_utc(time) if moment is None else moment


def _refusing(start: Callable[[Any], None]) -> Callable[[Any], None]:
    """Make the `start` of ``nbgrader db assignment add`` refuse unreadable due dates.

    The wrapped `start` also refuses a gradebook that this account may not write.
    """

    def checked_start(app: Any) -> None:
        try:
            require_access(*book_files(app.coursedir.db_url))
            if app.duedate:
                app.log.info("Due %s UTC", due_date(app.duedate))
        except CourseError as error:
            app.fail("%s", error)
        start(app)

    return checked_start


def how_late(seconds: float) -> str:
    """Describe how late something was handed in, like "2 hours late"; "" if in time.

    One second or less stands for an unknown delay.
    """
    if 0 < seconds <= 1:
        return "late, unknown by how much"
    return f"{in_words(seconds)} late".strip() if seconds > 0 else ""


def in_words(seconds: float) -> str:
    """A time span in words, "" for none."""
    if seconds <= 0:
        return ""
    minutes = round(seconds / 60) or 1
    hours = minutes // 60
    parts = ((hours // 24, "day"), (hours % 24, "hour"), (minutes % 60, "minute"))
    words = [f"{n} {unit}{'s' if n > 1 else ''}" for n, unit in parts if n]
    return " ".join(words[:2])


def describe_due(due: datetime.datetime) -> str:
    """A deadline (UTC, without zone) in this computer's zone, with the zone's name."""
    moment = due.replace(tzinfo=datetime.UTC).astimezone()
    return f"{moment:%A, %d %B %Y, %H:%M} {moment.tzname()}"


def add_due_line(notebook: NotebookNode, due: datetime.datetime) -> None:
    """Add a line with the due date below a notebook's title, if it has a title."""
    for cell in notebook.cells:
        if cell.cell_type == "markdown" and cell.source.startswith("# "):
            title, _, text = cell.source.partition("\n")
            cell.source = f"{title}\n\n**Due {describe_due(due)}**\n{text}".rstrip()
            return


def read_due(path: Path) -> str:
    """The due date that a released notebook states below its title; "" if none."""
    notebook = nbformat.read(path, as_version=4)
    titles = (
        cell.source
        for cell in notebook.cells
        if cell.cell_type == "markdown" and cell.source.startswith("# ")
    )
    match = _LINE.search(next(titles, ""))
    return match[1] if match else ""
