"""Store the submissions in an LMS's archives where nbgrader looks for them.

A fault in one archive or submission does not affect the others; it becomes a
line in the table that ``autograder collect`` prints.
"""

from __future__ import annotations

import datetime
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from autograder.classroom.collection_log import Note
from autograder.classroom.lms.archive import NotPlacedError, Source
from autograder.classroom.lms.contents import contents
from autograder.classroom.lms.layouts import (
    Attempt,
    Layout,
    Submitter,
    ToUtc,
    attempts,
    detect,
)
from autograder.classroom.lms.roster import Roster
from autograder.classroom.lms.sources import open_source, pieces
from autograder.classroom.lms.submitted import Place
from autograder.course.errors import CourseError

_PEOPLE = ("not placed", "unclear")  # each status that needs a person's attention
_LISTED = 3  # how many of the people who match the same student are listed
Claim = tuple[Submitter, Attempt]  # a person who matches a student, and their work


@dataclass(frozen=True)
class Placing:
    """What became of a submission, a file, or a whole archive.

    Attributes:
        name: the name or id of the student, or the file's name; "" for an archive.
        status: "placed", "replaced", "same", "older", "unclear" (which is newer) or
            "not placed".
        remark: the reason, and whatever else a person should know.
        fault: why the student must hand in again; "" if it can be graded.
    """

    archive: str
    name: str
    status: str
    remark: str = ""
    fault: str = ""

    @property
    def needs_person(self) -> bool:
        return self.status in _PEOPLE or bool(self.fault)


@dataclass(frozen=True)
class Collection:
    """The collection of an assignment's submissions from LMS archives.

    Args:
        lms: the LMS whose layout the archives have; "" detects it for each.
        replace: whether to replace stored submissions that are, or may be, newer.
        due: the deadline, naive in UTC.
    """

    unit: str
    root: Path
    roster: Roster
    utc: ToUtc
    lms: str = ""
    replace: bool = False
    due: datetime.datetime | None = None

    def place(self, archives: Sequence[Path]) -> Iterator[Placing]:
        """Store the submissions in these archives, and yield the outcomes."""
        for path in archives:
            try:
                with open_source(path) as source:
                    for archive in pieces(source):
                        yield from self._store_all(path, archive)
            except NotPlacedError as fault:
                yield Placing(path.name, "", "not placed", str(fault))

    def _store_all(self, path: Path, archive: Source) -> Iterator[Placing]:
        """Store the submissions of one archive, and yield their outcomes.

        ``path`` is the file that was given, which may contain several archives.
        """
        for name, reason in archive.left_out:
            yield Placing(path.name, name, "not placed", reason)
        try:
            yield from self._archive(archive, detect(archive, self.lms))
        except NotPlacedError as fault:
            yield Placing(archive.path.name, "", "not placed", str(fault))

    def _archive(self, archive: Source, layout: Layout) -> Iterator[Placing]:
        """Store the submission of each student on the roster from an archive."""
        name = archive.path.name
        usernames = self.roster.usernames
        all_attempts, strays = attempts(archive, layout, self.utc, usernames)
        for path, reason in strays:
            yield Placing(name, path, "not placed", reason)
        claims: dict[str, list[Claim]] = {}
        for attempt in all_attempts:
            for person in attempt.people or ():
                try:
                    student = self.roster.find(person, layout, attempt.blind)
                    claims.setdefault(student, []).append((person, attempt))
                except NotPlacedError as reason:
                    yield Placing(name, _describe(attempt), "not placed", str(reason))
            if not attempt.people:
                remark = "the archive does not say whose it is"
                yield Placing(name, _describe(attempt), "not placed", remark)
        for student, student_claims in sorted(claims.items()):
            status, fault = "not placed", ""
            try:
                status, remark, fault = self._student(
                    archive, layout, student, student_claims
                )
            except NotPlacedError as reason:
                remark = str(reason)
            except CourseError as error:
                remark = f"{error}; collect again"
            except OSError as error:
                remark = f"cannot be written: {error.strerror}; collect again"
            yield Placing(name, student, status, remark, fault)

    def _student(
        self, archive: Source, layout: Layout, student: str, claims: Sequence[Claim]
    ) -> tuple[str, str, str]:
        """Store a student's latest attempt; return status, remark and any fault."""
        person, latest = _latest(claims)
        unread = ""
        # Moodle's archives have no times, but its worksheet has.
        if latest.time is None and not layout.has_lasting_keys:
            time, unread = self.roster.find_time(student, self.utc)
            latest = replace(latest, time=time)
        handed_in = contents(archive, latest, self.unit, self.root)
        stamp, late = _stamp(latest, self.due)
        note = _note(person, latest, layout.lms, len(claims))
        place = Place(self.root, student, self.unit)
        status, remark = place.store(handed_in.files, note, stamp, self.replace)
        latest_of = f"the latest of {len(claims)} attempts" if len(claims) > 1 else ""
        fault = handed_in.fault and f"cannot be graded: {handed_in.fault}"
        remarks = [remark, fault, *handed_in.notes, late, unread, latest_of]
        return status, "; ".join(filter(None, remarks)), handed_in.fault


def _latest(claims: Sequence[Claim]) -> Claim:
    """Return the latest of a student's attempts, with the person who handed it in.

    Raises:
        NotPlacedError: it is unclear which person or which attempt is meant.
    """
    claimants = {_claimant(person): person.label for person, _ in claims}
    if len(claimants) > 1:
        listed = " and ".join(sorted(claimants.values())[:_LISTED])
        surplus = f" and {len(claimants) - _LISTED} more" * (len(claimants) > _LISTED)
        raise NotPlacedError(
            f"several people match: {listed}{surplus}; none is stored. Distinguish "
            "them in the LMS or the roster (email, lms_user_id), and collect again"
        )
    latest = max(claims, key=lambda claim: claim[1].time or datetime.datetime.min)
    if sum(attempt.time == latest[1].time for _, attempt in claims) > 1:
        raise NotPlacedError(
            "it has several submissions, and it is unclear which is the latest"
        )
    return latest


def _claimant(person: Submitter) -> str:
    """A key that identifies a person: the e-mail address, or else the label."""
    local, at, host = person.email.strip().rpartition("@")
    return f"{local}{at}{host.lower()}" or person.label


def _describe(attempt: Attempt) -> str:
    """Name an attempt by its first person, or else by its first file."""
    person = attempt.people[0] if attempt.people else None
    if person and (person.name or person.key):
        return f"{person.name} ({person.key})" if person.name else person.key
    return next(iter(attempt.files))


def _note(person: Submitter, attempt: Attempt, lms: str, count: int) -> Note:
    """Make the note for later collections on the latest of ``count`` attempts."""
    kind, time = "", ""
    if attempt.time:
        kind, time = "lms", attempt.time.isoformat()
    elif times := [member.time for member in attempt.files.values() if member.time]:
        kind, time = "zip", max(times).isoformat()
    origin = next(iter(attempt.files.values())).name
    return Note(kind, time, lms, origin, attempt.late, count, _claimant(person))


def _stamp(attempt: Attempt, due: datetime.datetime | None) -> tuple[str, str]:
    """Return the content of ``timestamp.txt``, "" for none; and a remark on lateness.

    Work that is late by an unknown time usually counts as one second late.
    """
    time, remark = attempt.time, ""
    if attempt.late and time is None:
        remark = "late, but the archive does not say by how much"
        # Work cannot be late for a deadline that is still to come.
        if due and due < datetime.datetime.now(datetime.UTC).replace(tzinfo=None):
            time = due + datetime.timedelta(seconds=1)
            remark += ": one second counts"
        else:
            remark += "; set the deadline and collect again, if it is to count"
    return (f"{time:%Y-%m-%d %H:%M:%S} UTC" if time else ""), remark


def as_text(outcomes: Iterable[Placing]) -> str:
    """Format the outcomes as a table, followed by a line with counts."""
    rows = list(outcomes)
    names = [row.name[:60] for row in rows]
    width = max(map(len, names), default=0)
    lines = [
        f"{name or row.archive:<{width}}  {row.status:<10}  {row.remark}".rstrip()
        for name, row in zip(names, rows, strict=True)
    ]
    counts = Counter(row.status for row in rows)
    sums = ", ".join(f"{count} {status}" for status, count in counts.items())
    return "\n".join([*lines, "", sums or "nothing in these archives"])
