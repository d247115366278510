"""Due dates with a time zone: read right, or refused with a line that says how.

And a student's own: an extension waits for a deadline, where nbgrader adds it to none.

nbgrader ignores the offset in ``2026-11-30 23:59 +01:00``, takes that in ``+0100`` for
a hundred seconds, and reads a date without a zone as UTC; all three without a word.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable
from typing import Any

from nbgrader import api, utils

from autograder.course.access import refuse_closed
from autograder.course.errors import CourseError, UsageError
from autograder.grading.gradebook.book import book_files
from autograder.grading.intake import parse_stamp


def due_date(text: str) -> datetime.datetime:
    """A due date that a person wrote, in UTC without zone, as the gradebook has it.

    Raises:
        CourseError: it is no date, or does not say in which time zone.
    """
    text = text.strip()
    moment = parse_stamp(text)
    if moment is None:
        raise UsageError(
            f'cannot read the due date "{text}"; write it like '
            '"2026-11-30 23:59 Europe/Berlin" or "2026-11-30 23:59 +01:00"'
        )
    if text[-1].isdigit() and parse_stamp(f"{text} UTC"):
        raise UsageError(
            f'the due date "{text}" has no time zone; write it like '
            f'"{text} Europe/Berlin", "{text} +01:00" or "{text} UTC"'
        )
    return moment


def install(grace_minutes: float = 0) -> None:
    """Have nbgrader read times as this module does.

    Nothing of nbgrader can be configured here: its one reader of times is replaced
    for the gradebook, and `nbgrader db assignment add` refuses what it cannot read.
    Doing it twice is harmless; the last grace counts.

    Args:
        grace_minutes: how long after a deadline nothing is late yet.
    """
    from nbgrader.apps.dbapp import DbAssignmentAddApp

    global _grace
    _grace = datetime.timedelta(minutes=grace_minutes)
    if utils.parse_utc is _parse_utc:
        return
    utils.parse_utc = _parse_utc
    DbAssignmentAddApp.start = _refusing(DbAssignmentAddApp.start)
    api.SubmittedAssignment.duedate = property(own_due_date)


def own_due_date(submission: api.SubmittedAssignment) -> datetime.datetime | None:
    """When a submission is late, its student's extension included; None if never."""
    due: datetime.datetime | None = submission.assignment.duedate
    return last_moment(due, submission.extension) if due else None


def last_moment(
    due: datetime.datetime, extension: datetime.timedelta | None = None
) -> datetime.datetime:
    """The last moment that is in time: a deadline, an extension, and the grace."""
    return due + (extension or datetime.timedelta()) + _grace


_grace = datetime.timedelta()  # which `install` sets
_plain_utc = utils.parse_utc


def _parse_utc(time: object) -> Any:
    """nbgrader's reader of times, given only what this module does not understand."""
    moment = parse_stamp(time.strip()) if isinstance(time, str) else None
    return _plain_utc(time) if moment is None else moment


def _refusing(start: Callable[[Any], None]) -> Callable[[Any], None]:
    def checked_start(app: Any) -> None:
        try:
            refuse_closed(*book_files(app.coursedir.db_url))
            if app.duedate:
                app.log.info("Due %s UTC", due_date(app.duedate))
        except CourseError as error:
            app.fail("%s", error)
        start(app)

    return checked_start


def how_late(seconds: float) -> str:
    """How late something was handed in, like "2 hours late"; "" if in time.

    Who is late by an LMS that tells no time has a single second (`lms/place.py`).
    """
    if 0 < seconds <= 1:
        return "late, unknown by how much"
    return f"{in_words(seconds)} late".strip() if seconds > 0 else ""


def in_words(seconds: float) -> str:
    """A time span in words, "" for none."""
    if seconds <= 0:
        return ""
    minutes = round(seconds / 60) or 1
    parts = (
        (minutes // 1440, "day"),
        (minutes // 60 % 24, "hour"),
        (minutes % 60, "minute"),
    )
    words = [f"{n} {unit}{'s' if n > 1 else ''}" for n, unit in parts if n]
    return " ".join(words[:2])
