"""The interface to an assignment in an LMS that `sending` and `returning` need."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from autograder.classroom.classbook import Student, plain


@dataclass(frozen=True)
class LmsMember:
    """A member of the LMS's course, as the LMS describes the person.

    Attributes:
        key: the LMS's own id. All other fields may be "".
        number: the institution's number for the person.
        login: the user name; with LTI, the name on the hub.
    """

    key: str
    name: str = ""
    email: str = ""
    number: str = ""
    login: str = ""
    first_name: str = ""
    last_name: str = ""


@dataclass(frozen=True)
class LmsStanding:
    """A student's current entry for the assignment in the LMS.

    ``score`` is in the gradebook's points, and ``reason_to_skip`` says why none is
    sent, like "excused in Canvas".
    """

    score: float | None = None
    reason_to_skip: str = ""


@dataclass(frozen=True)
class SentMark:
    """A student's grade to send.

    ``handed_in`` is the time of the hand-in in UTC, without zone.
    """

    score: float
    max_points: float
    comment: str = ""
    handed_in: datetime.datetime | None = None


class OnlineAssignment(Protocol):
    """One unit's assignment in an LMS.

    Attributes:
        lms: the name of the LMS, for messages.
        address: identifies the assignment uniquely, and contains no secret.
        has_lms_ids: whether the members' keys are the roster's ``lms_user_id``.
    """

    lms: str
    address: str
    has_lms_ids: bool

    def read_people(self) -> Sequence[LmsMember]:
        """All students of the course."""

    def read_standings(self) -> Mapping[str, LmsStanding] | None:
        """Map members' keys to the LMS's current scores; None if these are unknown."""

    def send(self, key: str, mark: SentMark) -> None:
        """Send a member's grade.

        Raises:
            GradeRefusedError: the LMS does not accept this grade.
            CourseError: the LMS accepts no grades; the message says what to do.
        """


class FileAssignment(OnlineAssignment, Protocol):
    """An assignment that accepts files as feedback."""

    def attach(self, key: str, page: Path, score: float | None, comment: str) -> None:
        """Attach a feedback page for a member; raises as `send`.

        The current score and the comment are given, as some LMSs would delete them.
        """


def rank(person: LmsMember, student: Student, has_lms_ids: bool) -> int:
    """Rate how certain it is that a member of the LMS's course is a student.

    Args:
        has_lms_ids: whether members' keys are the roster's LMS ids. If so, a known
            LMS id alone decides.

    Returns:
        4 for a key, 3 for the email, 2 for an id, 1 for the name, 0 for no match.
    """
    if student.lms_id and (has_lms_ids or student.lms_id == person.key):
        return 4 * (student.lms_id == person.key)
    if student.email and person.email:
        return 3 * (student.email.casefold() == person.email.casefold())
    called = {person.number.casefold(), person.login.casefold()} - {""}
    called |= {person.key} if has_lms_ids else set()
    if called & {student.id.casefold(), student.email.casefold()}:
        return 2
    has_name = bool(student.first_name and student.last_name)
    return int(has_name and plain(person.name) == plain(student.name))
