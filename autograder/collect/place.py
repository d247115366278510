"""Put what is in an LMS's archives where nbgrader looks for it.

One archive, and one student, at a time: a fault of the one is a line in the table, and
nothing to the others. A submission appears in one rename, complete or not at all, and
takes the place of another only if it is newer.
"""

from __future__ import annotations

import contextlib
import datetime
import os
import shutil
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from autograder.classroom import ledger
from autograder.classroom.ledger import Note
from autograder.collect.archive import NotPlaced
from autograder.collect.contents import RESERVED, STAMP, contents
from autograder.collect.layouts import (
    Attempt,
    Layout,
    ToUtc,
    attempts,
    detect,
    is_known,
)
from autograder.collect.roster import Roster
from autograder.collect.sources import Source, opened, pieces
from autograder.course.errors import CourseError
from autograder.course.files import alone
from autograder.grading import intake

_SOME_TIME = 946_684_800  # the year 2000
_PEOPLE = ("not placed", "unclear")


@dataclass(frozen=True)
class Placing:
    """What became of a submission, a file, or a whole archive (``who`` is "").

    ``status`` is "placed", "replaced", "same" (it is there already), "older" (than what
    is there), "unclear" (which is newer) or "not placed".
    """

    archive: str
    who: str
    status: str
    says: str = ""

    @property
    def needs_person(self) -> bool:
        return self.status in _PEOPLE


@dataclass(frozen=True)
class Order:
    """What tells which of two submissions is newer.

    ``kind`` is "lms" for a time of handing in, "zip" for one that the archive has; only
    those of a kind compare.
    """

    kind: str
    time: str


@dataclass(frozen=True)
class Circumstances:
    """What goes with all attempts of a student: ``due`` is the assignment's."""

    lms: str
    attempts: int
    due: datetime.datetime | None


def collect(
    unit: str, archives: Sequence[Path], root: Path, roster: Roster, utc: ToUtc,
    lms: str = "", replace: bool = False, due: datetime.datetime | None = None,
) -> Iterator[Placing]:  # fmt: skip
    """Place the submissions of an assignment.

    Args:
        utc: from the LMS's local time to UTC, both without zone.
        lms: the archives' layout; "": each is looked at.
        replace: take an archive's submission where it is unclear which is newer.
        due: the deadline in UTC without zone; what an LMS calls late, without a time,
            counts as one second late.
    """
    for path in archives:
        try:
            with opened(path) as whole:
                for archive in pieces(whole, is_known):
                    for name, reason in archive.left_out:
                        yield Placing(path.name, name, "not placed", reason)
                    try:
                        layout = detect(archive, lms)
                        yield from _archive(
                            archive, layout, unit, root, roster, utc, replace, due
                        )
                    except NotPlaced as fault:
                        yield Placing(archive.path.name, "", "not placed", str(fault))
        except NotPlaced as fault:
            yield Placing(path.name, "", "not placed", str(fault))


def _archive(
    archive: Source, layout: Layout, unit: str, root: Path, roster: Roster,
    utc: ToUtc, replace: bool, due: datetime.datetime | None,
) -> Iterator[Placing]:  # fmt: skip
    name = archive.path.name
    found, strays = attempts(archive, layout, utc, roster.usernames)
    for path, reason in strays:
        yield Placing(name, path, "not placed", reason)
    claims: dict[str, list[Attempt]] = {}
    for attempt in found:
        for person in attempt.people or ():
            try:
                student = roster.find(person, layout, attempt.blind)
                claims.setdefault(student, []).append(attempt)
            except NotPlaced as reason:
                yield Placing(name, _shown(attempt), "not placed", str(reason))
        if not attempt.people:
            says = "the archive does not say whose it is"
            yield Placing(name, _shown(attempt), "not placed", says)
    for student, own in sorted(claims.items()):
        told = Circumstances(layout.lms, len(own), due)
        yield _student(archive, student, own, unit, root, replace, told)


def _student(
    archive: Source, student: str, found: Sequence[Attempt], unit: str, root: Path,
    replace: bool, told: Circumstances,
) -> Placing:  # fmt: skip
    """Place the latest attempt of a student."""
    name = archive.path.name
    if len({attempt.people for attempt in found}) > 1 and not _is_group(found):
        listed = " and ".join(sorted({_shown(attempt) for attempt in found}))
        return Placing(name, student, "not placed", f"several claim to be it: {listed}")
    latest = max(found, key=lambda a: a.when or datetime.datetime.min)
    if len(found) > 1 and sum(a.when == latest.when for a in found) > 1:
        says = "it has several submissions; which is the latest cannot be told"
        return Placing(name, student, "not placed", says)
    try:
        files, notes = contents(archive, latest, unit)
        stamp, late = _stamp(latest, told.due)
        note = _note(latest, told)
        status, says = _place(root, student, unit, files, note, stamp, replace)
    except NotPlaced as reason:
        return Placing(name, student, "not placed", str(reason))
    except CourseError as error:
        return Placing(name, student, "not placed", f"{error}; collect again")
    except OSError as error:
        says = f"cannot be written: {error.strerror}; collect again"
        return Placing(name, student, "not placed", says)
    notes += late
    if len(found) > 1:
        notes.append(f"the latest of {len(found)} attempts")
    return Placing(name, student, status, "; ".join(filter(None, [says, *notes])))


def _is_group(found: Sequence[Attempt]) -> bool:
    """Whether somebody handed in alone and with others, under their own address."""
    return all(a.when and all(p.email for p in a.people) for a in found)


def _shown(attempt: Attempt) -> str:
    person = attempt.people[0] if attempt.people else None
    if person and (person.name or person.key):
        return f"{person.name} ({person.key})" if person.name else person.key
    return next(iter(attempt.files))


# --- placing -------------------------------------------------------------------------


def _place(
    root: Path, student: str, unit: str, files: Mapping[str, bytes], note: Note,
    stamp: str, replace: bool,
) -> tuple[str, str]:  # fmt: skip
    """Put a submission into ``submitted/``, unless what is there is newer."""
    folder = root / "submitted" / student / unit
    for path in (folder, folder.parent):  # submitted/ may lie on another disk
        if path.is_symlink():
            raise NotPlaced(f"{path} is a link")
    with alone(folder):
        return _put(root, student, unit, files, note, stamp, replace)


def _put(
    root: Path, student: str, unit: str, files: Mapping[str, bytes], note: Note,
    stamp: str, replace: bool,
) -> tuple[str, str]:  # fmt: skip
    folder = root / "submitted" / student / unit
    _recover(folder)
    new = _order(note)
    status, says = "placed", ""
    if folder.exists():
        there = intake.take(folder, intake.DEFAULTS).files
        own = {p: f.data for p, f in there.items() if p not in RESERVED}
        if own == dict(files) and (STAMP in there or not stamp):
            if student not in ledger.read(root, unit):  # that was cut off then
                ledger.write(root, unit, student, note)
            return "same", ""
        old = _known_order(folder, root, student, unit)
        if not replace and own != dict(files):
            if not (old and new and old.kind == new.kind) or old.time == new.time:
                return "unclear", (
                    "another submission is there, and which is newer cannot be told; "
                    "--replace takes this one"
                )
            if old.time > new.time:
                return "older", "what is there is newer"
        status = "replaced"
    _write(folder, root, files, stamp)
    ledger.write(root, unit, student, note)
    return status, says


def _note(attempt: Attempt, told: Circumstances) -> Note:
    kind, time = "", ""
    if attempt.when:
        kind, time = "lms", attempt.when.isoformat()
    elif times := [member.time for member in attempt.files.values() if member.time]:
        kind, time = "zip", max(times).isoformat()
    origin = next(iter(attempt.files.values())).name
    return Note(kind, time, told.lms, origin, attempt.late, told.attempts)


def _order(note: Note | None) -> Order | None:
    return Order(note.kind, note.time) if note and note.kind else None


def _known_order(folder: Path, root: Path, student: str, unit: str) -> Order | None:
    """When what is there was handed in, or what an earlier collection noted of it."""
    note = ledger.read(root, unit).get(student)
    stamp, odd = intake.handed_in(folder)
    if stamp and not odd and not (note and note.kind == "zip"):
        return Order("lms", stamp.replace(microsecond=0).isoformat())
    return _order(note)


def _stamp(
    attempt: Attempt, due: datetime.datetime | None
) -> tuple[str, tuple[str, ...]]:
    """What goes into ``timestamp.txt``, and what to say of lateness."""
    when = attempt.when
    says: tuple[str, ...] = ()
    if attempt.late and when is None:
        unknown = "late, but the archive does not say by how much"
        if due and due < datetime.datetime.now(datetime.UTC).replace(tzinfo=None):
            when = due + datetime.timedelta(seconds=1)
            says = (f"{unknown}: one second counts",)
        else:
            says = (
                f"{unknown}; set the deadline and collect again, if it is to count",
            )
    return (f"{when:%Y-%m-%d %H:%M:%S} UTC" if when else ""), says


def _write(folder: Path, root: Path, files: Mapping[str, bytes], stamp: str) -> None:
    """Write a submission beside its place, then put it there in one step."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    part, old = (folder.with_name(f".{folder.name}.{end}") for end in ("part", "old"))
    _recover(folder)
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir()
    try:
        for number, (path, data) in enumerate(files.items()):
            (part / path).parent.mkdir(parents=True, exist_ok=True)
            (part / path).write_bytes(data)
            # Of several notebooks that are equally good, the newest is graded.
            os.utime(part / path, (_SOME_TIME + number, _SOME_TIME + number))
        if stamp:
            (part / STAMP).write_text(stamp)
        _share(part, root)
        if folder.exists():
            folder.rename(old)
        part.rename(folder)
    finally:
        shutil.rmtree(part, ignore_errors=True)
        _recover(folder)


def _share(part: Path, root: Path) -> None:
    """Let a group of graders write what is new, if the course folder is theirs."""
    if root.stat().st_mode & stat.S_IWGRP:
        for path in (part.parent, part, *part.rglob("*")):
            with contextlib.suppress(PermissionError):  # another grader's folder
                path.chmod(path.stat().st_mode | (0o2070 if path.is_dir() else 0o060))


def _recover(folder: Path) -> None:
    """Finish, or take back, a replacement that was cut off between its two steps."""
    old = folder.with_name(f".{folder.name}.old")
    if old.exists() and not folder.exists():
        old.rename(folder)
    shutil.rmtree(old, ignore_errors=True)


def as_text(outcomes: Iterable[Placing]) -> str:
    """A table of what became of each, and a line of sums."""
    rows = list(outcomes)
    who = max((len(row.who[:60]) for row in rows), default=0)
    lines = [
        f"{row.who[:60] or row.archive:<{who}}  {row.status:<10}  {row.says}".rstrip()
        for row in rows
    ]
    counts: dict[str, int] = {}
    for row in rows:
        counts[row.status] = counts.get(row.status, 0) + 1
    sums = ", ".join(f"{count} {status}" for status, count in counts.items())
    return "\n".join([*lines, "", sums or "nothing in these archives"])
