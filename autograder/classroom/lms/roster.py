"""The roster, which translates an LMS's names for students to the course's ids.

It is read from a CSV like that of ``nbgrader db student import``. Without a roster, the
LMS's own key serves as the student's id.
"""

from __future__ import annotations

import contextlib
import datetime
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from autograder.classroom.classbook import Student, plain
from autograder.classroom.lms.archive import NotPlacedError
from autograder.classroom.lms.layouts import Layout, Submitter, ToUtc
from autograder.course import sheet
from autograder.course.errors import CourseError
from autograder.course.printable import printable

COLUMNS = (
    "id", "first_name", "last_name", "email", "lms_user_id", "username", "section",
)  # fmt: skip
_WORKSHEET = {  # Moodle's grading worksheet, in English
    "identifier": "participant", "full name": "name", "email address": "email",
    "id number": "number", "last modified (submission)": "modified",
}  # fmt: skip
_EXAMPLE = "Monday, 30 November 2026, 11:59 PM"
_MODIFIED = tuple(
    f"%A, {day}, {clock}"
    for day in ("%d %B %Y", "%B %d, %Y")
    for clock in ("%I:%M %p", "%H:%M")
)
_ID = re.compile(r"[\w@][\w@.+-]{0,120}")  # can name a folder on any system


@dataclass(frozen=True)
class Enrolment:
    """A student on the roster, with data for which the gradebook has no field.

    Attributes:
        participants: Moodle's number of the student in one assignment; several if
            that is unclear.
        modified: when the student handed in, as Moodle's worksheet writes it.
    """

    student: Student
    username: str = ""
    section: str = ""
    participants: tuple[str, ...] = ()  # Moodle's number; several if it is ambiguous
    modified: str = ""  # the time of their submission, as Moodle writes it


class Roster:
    """A list of a course's students; `find` looks up the one whom an LMS names."""

    def __init__(self, entries: Iterable[Enrolment] = ()):
        self.entries = list(entries)

    @property
    def usernames(self) -> set[str]:
        """The names by which an LMS may refer to students: ids and user names."""
        return {n for e in self.entries for n in (e.student.id, e.username) if n}

    def find(self, person: Submitter, layout: Layout, blind: bool = False) -> str:
        """Find the id of the only student who matches a person named in an archive.

        A name is enough only if there are no keys or addresses to compare. An empty
        roster takes the LMS's own key as the id.

        Args:
            blind: whether the LMS hides the person's identity.

        Raises:
            NotPlacedError: it is unclear who is meant, or the id cannot be used.
        """
        if not self.entries:
            return self._use_lms_key(person, layout, blind)
        hidden = (
            blind and layout.has_lasting_keys
        )  # the key is an alias for one assignment
        candidates = [e for e in self.entries if _is_meant(e, person, layout)]
        candidates = [] if hidden else candidates
        if not candidates and not blind and not person.email:
            # Names prove little, so they are compared last, and never if an address is
            # known. A student whose LMS id is known would have matched by it above.
            free = [e for e in self.entries if not _is_known(e, layout)]
            candidates = [
                e for e in free if _is_called(e.student, person.name, person.grouped)
            ]
        # The file's name could also be read as another student's: the name decides.
        if person.rival in {e.student.lms_id or e.student.id for e in self.entries}:
            candidates = [e for e in candidates if _is_called(e.student, person.name)]
        ids = {entry.student.id for entry in candidates}
        label, lasting = person.label, layout.has_lasting_keys
        if len(ids) > 1:
            listed = ", ".join(sorted(ids))
            raise NotPlacedError(
                f"{label} may be any of {listed} on the roster; {_APART[lasting]}"
            )
        if ids:
            numbers = candidates[0].participants
            if not layout.has_lasting_keys and len(numbers) > 1:
                raise NotPlacedError(
                    f"each of the worksheet's participants {', '.join(numbers)} may be "
                    f"{candidates[0].student.id}; give the roster an email, and "
                    "collect again"
                )
            return valid(ids.pop())
        if blind:
            raise NotPlacedError(
                f"{layout.lms} hides who {label} is; {_UNBLIND[layout.lms]}"
            )
        raise NotPlacedError(f"{label} is not on the roster")

    def _use_lms_key(self, person: Submitter, layout: Layout, blind: bool) -> str:
        """Return the LMS's key for a person, or else the address, as the student's id.

        Raises:
            NotPlacedError: the LMS gives nothing that can serve as an id.
        """
        if blind:
            raise NotPlacedError(
                f"{layout.lms} hides who it is; {_UNBLIND[layout.lms]}"
            )
        if not layout.has_lasting_keys:
            raise NotPlacedError(
                f"{layout.lms}'s numbers change with each assignment: give a roster "
                "with first_name and last_name"
            )
        return valid(person.key or person.email)

    def with_worksheet(self, path: Path) -> Roster:
        """Return a roster with numbers and times from Moodle's grading worksheet.

        Raises:
            CourseError: the file cannot be read, or is not such a worksheet.
        """
        if sheet.read(path).index("identifier") is None:
            raise CourseError(
                f"{path} is not Moodle's grading worksheet: it has no column "
                '"Identifier"; download it with the site in English'
            )
        rows = [
            (number, row)
            for row in _rows(path, _WORKSHEET)
            if (number := re.sub(r"\D", "", row["participant"]))
        ]
        entries = []
        for entry in self.entries:
            matches = {n: row for n, row in rows if _is_row_of(entry.student, row)}
            modified = [row["modified"] for row in matches.values()][:1]
            entries.append(
                replace(
                    entry,
                    participants=tuple(sorted(matches)),
                    modified="".join(modified),
                )
            )
        return Roster(entries)

    def find_time(
        self, student: str, utc: ToUtc
    ) -> tuple[datetime.datetime | None, str]:
        """Find when a student handed in, according to Moodle's worksheet.

        Returns:
            The time, naive in UTC, or None; and a remark if it cannot be read, or "".
        """
        texts = [e.modified for e in self.entries if e.student.id == student]
        text = "".join(texts).strip(" -")
        for pattern in _MODIFIED:
            with contextlib.suppress(ValueError):
                return utc(datetime.datetime.strptime(text, pattern)), ""
        unread = f'the worksheet\'s time "{text}" is not like "{_EXAMPLE}": ignored'
        return None, unread if text else ""


_APART = {  # what to do if several students match, by `Layout.has_lasting_keys`
    True: "give the roster their lms_user_id, and collect again",
    False: "give Moodle's grading worksheet, which has their addresses, with "
    "--worksheet, and the roster their email",
}
_UNBLIND = {
    "Canvas": "turn anonymous grading off and download again",
    "Moodle": "reveal the identities and download again, or give the grading worksheet "
    "with --worksheet",
}


def valid(student: str) -> str:
    """Return an id if it can be the name of a folder.

    Raises:
        NotPlacedError: it cannot.
    """
    if not _ID.fullmatch(student):
        raise NotPlacedError(
            f'"{student[:60]}" cannot be the name of a folder; give a roster with ids'
        )
    return student


def _is_known(entry: Enrolment, layout: Layout) -> bool:
    """Return whether the roster has the key by which an LMS refers to a student."""
    return bool(entry.student.lms_id if layout.has_lasting_keys else entry.participants)


def _is_meant(entry: Enrolment, person: Submitter, layout: Layout) -> bool:
    """Whether a person in an archive has the key or the address of a student."""
    student = entry.student
    if _is_same_address(person.email, student.email):
        return True
    if not person.key:
        return False
    if not layout.has_lasting_keys:
        return person.key in entry.participants
    if layout.has_usernames:
        return person.key in (student.id, entry.username, student.lms_id)
    # If the LMS id is known, it decides, because the id of a different student may be
    # the same text.
    return person.key == (student.lms_id or student.id)


def _is_row_of(student: Student, row: dict[str, str]) -> bool:
    """Whether a row of the worksheet is a student's: by address, number, or name."""
    if row["email"] and student.email:
        return _is_same_address(row["email"], student.email)
    if row["number"] and row["number"] in (student.id, student.lms_id):
        return True
    return _is_called(student, row["name"])


def _is_called(student: Student, name: str, grouped: bool = False) -> bool:
    """Whether a name in an LMS's spelling (Canvas: "lovelaceada") is this student's.

    Args:
        grouped: whether a group's name and "-" may precede the student's.
    """
    if not (student.first_name or student.last_name) or not name:
        return False
    spellings = {
        plain(student.first_name + student.last_name),
        plain(student.last_name + student.first_name),
    }
    parts = name.split("-")
    called = {plain("-".join(parts[n:])) for n in range(len(parts) if grouped else 1)}
    return bool(called & spellings - {""})


def _is_same_address(first: str, second: str) -> bool:
    """Return whether two e-mail addresses are equal, apart from case, and not empty."""
    return bool(first.strip()) and _address(first) == _address(second)


def _address(text: str) -> str:
    # Lower-case ASCII letters only: "ß" is not "ss", nor is the Kelvin sign "k".
    return unicodedata.normalize("NFC", text.strip()).encode().lower().decode()


# --- reading -------------------------------------------------------------------------


def from_csv(path: Path) -> Roster:
    """Read a CSV like that of ``nbgrader db student import``; only ``id`` is required.

    It may also have the columns ``username`` and ``section``.

    Raises:
        CourseError: the file cannot be read, has no ids, or has one id twice.
    """
    entries = []
    # Moodle calls a section "groups".
    for row in _rows(path, {name: name for name in (*COLUMNS, "groups")}):
        if row["id"]:
            *person, username, section, groups = row.values()
            entries.append(Enrolment(Student(*person), username, section or groups))
    if not entries:
        raise CourseError(f'{path}: no row has an "id"; columns: {", ".join(COLUMNS)}')
    for name, count in Counter(e.student.id for e in set(entries)).items():
        if count > 1:
            raise CourseError(f'{path}: {count} different rows have the id "{name}"')
    return Roster(entries)


def _rows(path: Path, columns: dict[str, str]) -> Iterator[dict[str, str]]:
    """Yield the rows of a CSV as dictionaries; ``columns`` maps its titles to keys."""
    table = sheet.read(path)
    for row in table.rows:
        cells = {ours: table.cell(row, theirs) for theirs, ours in columns.items()}
        yield {n: printable(unicodedata.normalize("NFC", c)) for n, c in cells.items()}
