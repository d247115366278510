"""What sending needs of an assignment in an LMS, whichever LMS it is."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from autograder.classroom.classbook import Student, plain


@dataclass(frozen=True)
class LmsMember:
    """Somebody in the LMS's course; all but ``key``, the LMS's own, may be "".

    ``number`` and ``login`` are what the institution calls them.
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
    """What the LMS has of a student.

    Attributes:
        score: in the gradebook's points; None if there is none.
        untouched: why the LMS's entry stays as it is, "" if it does not.
    """

    score: float | None = None
    untouched: str = ""


@dataclass(frozen=True)
class SentMark:
    """What is sent of a student.

    Attributes:
        score: points, of ``max_points``.
        handed_in: in UTC without zone; None if unknown.
    """

    score: float
    max_points: float
    comment: str = ""
    handed_in: datetime.datetime | None = None


class OnlineAssignment(Protocol):
    """One unit's assignment in an LMS.

    Attributes:
        lms: its name, for messages.
        address: tells it from all other assignments, without any secret.
        has_lms_ids: people's keys are what the roster calls ``lms_user_id``.
    """

    lms: str
    address: str
    has_lms_ids: bool

    def read_people(self) -> Sequence[LmsMember]:
        """All students of the course."""

    def read_standings(self) -> Mapping[str, LmsStanding] | None:
        """What the LMS has, by the key of a person; None if it does not say."""

    def send(self, key: str, mark: SentMark) -> None:
        """Send a person's grade.

        Raises:
            GradeRefusedError: the LMS does not take this one.
            CourseError: it takes none; the text says what to do.
        """


class FileAssignment(OnlineAssignment, Protocol):
    """An assignment that takes files as feedback."""

    def attach(self, key: str, page: Path, score: float | None, comment: str) -> None:
        """Attach a feedback page for a person; raises as `send`.

        Args:
            score: what the LMS has, and keeps.
            comment: what stands beside the score; it is the same as before.
        """


def rank(person: LmsMember, student: Student, has_lms_ids: bool) -> int:
    """Rate how surely a person of the LMS is a student: 4 by its key, 0: not.

    Args:
        has_lms_ids: a student whose LMS id is known has no other key.
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
