"""Put what is in an LMS's archives where nbgrader looks for it.

One archive, and one student, at a time: a fault of the one is a line in the table, and
nothing to the others. A submission appears in one rename, complete or not at all, and
takes the place of another only if it is newer.
"""

from __future__ import annotations

import contextlib
import datetime
import json
import os
import re
import shutil
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from autograder.collect.archive import Archive, Refused
from autograder.collect.layouts import Attempt, Layout, ToUtc, attempts, detect
from autograder.collect.roster import Roster
from autograder.grading import intake

STAMP = "timestamp.txt"
_RESERVED = (STAMP, "submission_secret.txt")  # nbgrader's own; students write none
_DECORATION = re.compile(r"^(?:copy[ _]of[ _])*(.+?)(?:-\d+|\s?\(\d+\))*$", re.I)
_SOME_TIME = 946_684_800  # the year 2000
_PEOPLE = ("not placed", "unclear")


@dataclass(frozen=True)
class Outcome:
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


def collect(
    unit: str, archives: Sequence[Path], root: Path, roster: Roster, utc: ToUtc,
    lms: str = "", replace: bool = False,
) -> Iterator[Outcome]:  # fmt: skip
    """Place the submissions of an assignment.

    Args:
        utc: from the LMS's local time to UTC, both without zone.
        lms: the archives' layout; "": each is looked at.
        replace: take an archive's submission where it is unclear which is newer.
    """
    for path in archives:
        try:
            with Archive(path) as archive:
                for name, reason in archive.left_out:
                    yield Outcome(path.name, name, "not placed", reason)
                layout = detect(archive, lms)
                yield from _archive(archive, layout, unit, root, roster, utc, replace)
        except Refused as reason:
            yield Outcome(path.name, "", "not placed", str(reason))


def _archive(
    archive: Archive, layout: Layout, unit: str, root: Path, roster: Roster,
    utc: ToUtc, replace: bool,
) -> Iterator[Outcome]:  # fmt: skip
    name = archive.path.name
    found, strays = attempts(archive, layout, utc, roster.usernames)
    for path, reason in strays:
        yield Outcome(name, path, "not placed", reason)
    claims: dict[str, list[Attempt]] = {}
    for attempt in found:
        for person in attempt.people or ():
            try:
                student = roster.find(person, layout, attempt.blind)
                claims.setdefault(student, []).append(attempt)
            except Refused as reason:
                yield Outcome(name, _shown(attempt), "not placed", str(reason))
        if not attempt.people:
            says = "the archive does not say whose it is"
            yield Outcome(name, _shown(attempt), "not placed", says)
    for student, own in sorted(claims.items()):
        yield _student(archive, student, own, unit, root, replace)


def _student(
    archive: Archive, student: str, found: Sequence[Attempt], unit: str, root: Path,
    replace: bool,
) -> Outcome:  # fmt: skip
    """Place the latest attempt of a student."""
    name = archive.path.name
    if len({attempt.people for attempt in found}) > 1 and not _is_group(found):
        listed = " and ".join(sorted({_shown(attempt) for attempt in found}))
        return Outcome(name, student, "not placed", f"several claim to be it: {listed}")
    latest = max(found, key=lambda a: a.when or datetime.datetime.min)
    if len(found) > 1 and sum(a.when == latest.when for a in found) > 1:
        says = "it has several submissions; which is the latest cannot be told"
        return Outcome(name, student, "not placed", says)
    try:
        files, notes = _files(archive, latest, unit)
        status, says = _place(root, student, unit, files, latest, replace)
    except Refused as reason:
        return Outcome(name, student, "not placed", str(reason))
    except OSError as error:
        return Outcome(name, student, "not placed", f"cannot be written: {error}")
    if latest.late and latest.when is None:
        notes.append("late, but the archive does not say by how much")
    if len(found) > 1:
        notes.append(f"the latest of {len(found)} attempts")
    return Outcome(name, student, status, "; ".join(filter(None, [says, *notes])))


def _is_group(found: Sequence[Attempt]) -> bool:
    """Whether somebody handed in alone and with others, under their own address."""
    return all(a.when and all(p.email for p in a.people) for a in found)


def _shown(attempt: Attempt) -> str:
    person = attempt.people[0] if attempt.people else None
    if person and (person.name or person.key):
        return f"{person.name} ({person.key})" if person.name else person.key
    return next(iter(attempt.files))


# --- files ---------------------------------------------------------------------------


def _files(
    archive: Archive, attempt: Attempt, unit: str
) -> tuple[dict[str, bytes], list[str]]:
    """What an attempt holds by the path it gets, earlier uploads first; and remarks.

    Raises:
        Refused: it is too large, or damaged.
    """
    limits, notes = intake.DEFAULTS, []
    if len(attempt.files) > limits.files:
        raise Refused(f"it has more than {limits.files} files")
    left, files = limits.total, {}
    for path, member in attempt.files.items():
        if path.rpartition("/")[2].casefold() in _RESERVED:
            notes.append(f"left out: {path}, which students do not write")
            continue
        try:
            data = archive.read(member, min(limits.file, left))
        except Refused as reason:
            raise Refused(f"{path}: {reason}") from None
        left -= len(data)
        files[path] = data
    if not any(path.lower().endswith(".ipynb") for path in files):
        notes.append("there is no notebook in it")
    return _named(files, unit), notes


def _named(files: Mapping[str, bytes], unit: str) -> dict[str, bytes]:
    """With the plain name for a single notebook; it is found by its content anyway."""
    notebooks = [path for path in files if path.lower().endswith(".ipynb")]
    if len(notebooks) == 1 and "/" not in notebooks[0]:
        return {(f"{unit}.ipynb" if p in notebooks else p): d for p, d in files.items()}
    plain = {path: _undecorated(path) for path in files}
    if len(set(plain.values())) == len(files):
        return {plain[path]: data for path, data in files.items()}
    return dict(files)


def _undecorated(path: str) -> str:
    """A path without "Copy of ", " (1)" and "-1" around the file's name."""
    folder, _, name = path.rpartition("/")
    stem, dot, suffix = name.rpartition(".")
    if not dot or suffix.lower() != "ipynb":
        return path
    plain = _DECORATION.sub(r"\1", stem)
    return f"{folder}/{plain}.{suffix}".lstrip("/")


# --- placing -------------------------------------------------------------------------


def _place(
    root: Path, student: str, unit: str, files: Mapping[str, bytes], attempt: Attempt,
    replace: bool,
) -> tuple[str, str]:  # fmt: skip
    """Put a submission into ``submitted/``, unless what is there is newer."""
    folder = root / "submitted" / student / unit
    for path in (folder, folder.parent, folder.parent.parent):
        if path.is_symlink():
            raise Refused(f"{path} is a link")
    _recover(folder)
    new = _order(attempt)
    status, says = "placed", ""
    if folder.exists():
        there = intake.take(folder, intake.DEFAULTS).files
        if {p: f.data for p, f in there.items() if p not in _RESERVED} == dict(files):
            return "same", ""
        old = _known_order(folder, root, student, unit)
        if not replace:
            if not (old and new and old.kind == new.kind) or old.time == new.time:
                return "unclear", (
                    "another submission is there, and which is newer cannot be told; "
                    "--replace takes this one"
                )
            if old.time > new.time:
                return "older", "what is there is newer"
        status = "replaced"
    _write(folder, root, files, attempt)
    _note_order(root, student, unit, new)
    return status, says


def _order(attempt: Attempt) -> Order | None:
    if attempt.when:
        return Order("lms", attempt.when.isoformat())
    times = [member.time for member in attempt.files.values() if member.time]
    return Order("zip", max(times).isoformat()) if times else None


def _known_order(folder: Path, root: Path, student: str, unit: str) -> Order | None:
    """When what is there was handed in, or what an earlier collection noted of it."""
    stamp, odd = intake.handed_in(folder)
    if stamp and not odd:
        return Order("lms", stamp.replace(microsecond=0).isoformat())
    noted = _notes(root, unit).get(student)
    return Order(**noted) if noted else None


def _write(
    folder: Path, root: Path, files: Mapping[str, bytes], attempt: Attempt
) -> None:
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
        if attempt.when:
            (part / STAMP).write_text(f"{attempt.when:%Y-%m-%d %H:%M:%S} UTC")
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


def _notes_path(root: Path, unit: str) -> Path:
    return root / ".autograder" / "collected" / f"{unit}.json"


def _notes(root: Path, unit: str) -> dict:
    try:
        return json.loads(_notes_path(root, unit).read_text())
    except (OSError, ValueError):
        return {}


def _note_order(root: Path, student: str, unit: str, order: Order | None) -> None:
    notes, path = _notes(root, unit), _notes_path(root, unit)
    notes.pop(student, None)
    if order:
        notes[student] = {"kind": order.kind, "time": order.time}
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(".part")
    part.write_text(json.dumps(notes, indent=1, sort_keys=True))
    part.replace(path)


def as_text(outcomes: Iterable[Outcome]) -> str:
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
