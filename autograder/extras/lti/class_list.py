"""Write the students of an LMS's course as a roster for ``autograder collect``."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator

from autograder.classroom.lms.archive import NotPlacedError
from autograder.classroom.lms.roster import COLUMNS, valid
from autograder.course import sheet
from autograder.extras.lti.assignment import LmsMember


def as_roster(members: Iterable[LmsMember]) -> str:
    """The members as CSV with the columns of a roster, sorted by id.

    The id is the login, or else the institution's number, or else the LMS's key. A
    member of whom none can be an id is left out.
    """
    rows = [
        (student, *_names(member), member.email, member.key, member.login, "")
        for member in members
        for student in list(_ids(member))[:1]
    ]
    return sheet.as_harmless_text([COLUMNS, *sorted(rows)])


def _ids(member: LmsMember) -> Iterator[str]:
    """The possible ids of a member, the preferred one first."""
    for candidate in (member.login, member.number, member.key):
        with contextlib.suppress(NotPlacedError):
            yield valid(candidate)


def _names(member: LmsMember) -> tuple[str, str]:
    """First and last name as in the LMS; else the last word is the last name."""
    if member.first_name or member.last_name:
        return member.first_name, member.last_name
    first, _, last = member.name.rpartition(" ")
    return first, last
