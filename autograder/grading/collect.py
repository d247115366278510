"""``nbgrader collect`` that no submission can stop, imitate or backdate.

What lies in the exchange was put there by students' own processes: the folder's name,
the ``timestamp.txt`` in it, links to files that only graders can read. Believed is what
the system says: whose a file is, and when it was last changed.
"""

from __future__ import annotations

import contextlib
import datetime
import fnmatch
import os
import pwd
import shutil
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from nbgrader.api import Gradebook, MissingEntry
from nbgrader.exchange.default import ExchangeCollect

from autograder.grading.intake import SizeLimits, parse_stamp

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
# An honest `nbgrader submit` takes the time first and then copies the files.
_COPYING = datetime.timedelta(minutes=1)


@dataclass(frozen=True)
class HandedIn:
    """A submission in the exchange; ``time`` is in UTC, without zone."""

    student: str
    path: Path
    time: datetime.datetime


class CourseCollect(ExchangeCollect):  # type: ignore[misc]
    """nbgrader's ``collect`` for a class that is not trusted.

    - A folder that says it is from a student, but belongs to another account, is left
      out (``check_owner``; only a warning in nbgrader). A name that cannot be read,
      which stops nbgrader for the whole class, stops nobody.
    - Links and devices are left out, and files that are not the student's own: nbgrader
      follows a link to the solution and collects that.
    - The time is the one in the folder's name, unless something was changed later:
      then it is the time of that change. It is written to ``timestamp.txt``.
    - An earlier submission goes only when the new one lies there whole.
    """

    def init_src(self) -> None:
        """Choose one submission for each student."""
        inbound = Path(self.root) / self.coursedir.course_id / "inbound"
        if not os.access(inbound, os.R_OK | os.X_OK):
            self.fail(
                f"{inbound} cannot be read: nothing was released yet, or this account "
                "is not in the graders' group (see docs/ta.md)"
            )
        due = self._due() if self.before_duedate else None
        by_student: dict[str, list[HandedIn]] = {}
        for path in sorted(inbound.iterdir()):
            with contextlib.suppress(FileNotFoundError):  # taken away while we look
                if handed_in := self._handed_in(path):
                    by_student.setdefault(handed_in.student, []).append(handed_in)
        self.src_records = [_latest(all_, due) for all_ in by_student.values()]

    def _due(self) -> datetime.datetime | None:
        with Gradebook(self.coursedir.db_url, self.coursedir.course_id) as book:
            try:
                known = book.find_assignment(self.coursedir.assignment_id)
            except MissingEntry:
                return None
            due: datetime.datetime | None = known.duedate
            return due

    def _handed_in(self, path: Path) -> HandedIn | None:
        """What a folder of the exchange is, None if it is not for this run."""
        student, found, rest = path.name.rpartition(f"+{self.coursedir.assignment_id}+")
        wanted = self.coursedir.student_id or "*"
        if not found or not fnmatch.fnmatchcase(student, wanted):
            return None
        if not student.isprintable() or student[:1] in ("", "."):
            self._leave_out(path, "its name is not one that nbgrader gives")
            return None
        owner = _name(path.lstat().st_uid)
        if self.check_owner and owner != student:
            self._leave_out(path, f"it belongs to {owner}, not to {student}")
            return None
        said = rest.partition("+")[0]
        changed = _last_change(path, self.coursedir.ignore)
        claimed = parse_stamp(said)
        if claimed and claimed <= changed <= claimed + _COPYING:
            return HandedIn(student, path, claimed)
        self.log.warning(
            "%s: the submission says %s, but was last changed at %s UTC: that counts",
            student, ascii(said), changed,
        )  # fmt: skip
        return HandedIn(student, path, changed)

    def _leave_out(self, path: Path, reason: str) -> None:
        self.log.error("Left out %s: %s", ascii(path.name), reason)

    def copy_files(self) -> None:
        """Take the chosen submissions into ``submitted/``."""
        unit = self.coursedir.assignment_id
        self.log.info("%d submissions of %s", len(self.src_records), unit)
        for handed_in in self.src_records:
            student = handed_in.student
            folder = Path(
                self.coursedir.format_path(
                    self.coursedir.submitted_directory, student, unit
                )
            )
            if folder.is_dir() and not self._replaces(handed_in, folder):
                continue
            self.log.info("Collecting: %s %s", student, unit)
            try:
                self._take(handed_in, folder)
            except OSError as error:
                self.log.error("%s: not collected: %s", student, error)

    def _replaces(self, handed_in: HandedIn, folder: Path) -> bool:
        try:
            text = (folder / "timestamp.txt").read_text(encoding="ascii")
        except (OSError, ValueError):
            text = ""
        known = parse_stamp(text.strip())
        if known == handed_in.time:
            self.log.info("Up to date: %s", handed_in.student)
            return False
        newer = known is None or handed_in.time > known
        if not (self.before_duedate or (self.update and newer)):
            self.log.info(
                "%s has another submission here%s", handed_in.student,
                ", a newer one: left as it is" if not newer
                else "; --update takes the new one",
            )  # fmt: skip
            return False
        return True

    def _take(self, handed_in: HandedIn, folder: Path) -> None:
        part, old = (folder.with_name(f".{folder.name}.{n}") for n in ("part", "old"))
        for left in (part, old):
            shutil.rmtree(left, ignore_errors=True)
        part.mkdir(parents=True)
        left_out, changed = _copy(
            handed_in.path, part, self.coursedir.ignore,
            handed_in.path.lstat().st_uid if self.check_owner else None,
        )  # fmt: skip
        time = handed_in.time
        if changed > time + _COPYING:
            time = changed
            self.log.warning(
                "%s: changed while it was collected, at %s UTC: that counts",
                handed_in.student, changed,
            )  # fmt: skip
        for name, reason in left_out:
            self.log.warning(
                "%s: left out %s: %s", handed_in.student, ascii(name), reason
            )
        stamp = f"{time:%Y-%m-%d %H:%M:%S.%f} UTC"
        (part / "timestamp.txt").write_text(stamp)
        if folder.is_dir():
            folder.rename(old)
        part.rename(folder)
        shutil.rmtree(old, ignore_errors=True)


def _latest(all_: Sequence[HandedIn], due: datetime.datetime | None) -> HandedIn:
    """The last submission in time, else the last one."""
    in_time = [one for one in all_ if due is None or one.time <= due]
    return max(in_time or all_, key=lambda one: one.time)


def _name(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return f"account {uid}"


# --- the exchange's folders, which their students can change at any moment -----------


def _last_change(folder: Path, ignore: Sequence[str]) -> datetime.datetime:
    """When anything that counts was last changed, by the clock of its file system.

    It is the inodes' time, which nobody can set; not that of the files' content. What
    cannot be looked at is not copied, either.
    """
    latest = folder.lstat().st_ctime
    with contextlib.suppress(OSError), _opened(folder, _FOLDER) as descriptor:
        for _, parent, name in _counting(descriptor, ignore):
            with contextlib.suppress(OSError):
                status = os.stat(name, dir_fd=parent, follow_symlinks=False)
                latest = max(latest, status.st_ctime)
    return _utc(latest)


def _utc(seconds: float) -> datetime.datetime:
    return datetime.datetime.fromtimestamp(seconds, datetime.UTC).replace(tzinfo=None)


def _copy(
    source: Path, target: Path, ignore: Sequence[str], owner: int | None
) -> tuple[list[tuple[str, str]], datetime.datetime]:
    """Copy the regular files of one owner.

    Returns:
        What was left out, and why; and when what was copied was last changed.
    """
    limits, left_out, latest = SizeLimits(), [], 0.0
    room = limits.total
    with _opened(source, _FOLDER) as descriptor:
        for path, parent, name in _counting(descriptor, ignore):
            try:
                size, changed = _copy_file(
                    parent, name, target / path, owner, limits, room
                )
                room, latest = room - size, max(latest, changed)
            except _Unwanted as reason:
                left_out.append((path, str(reason)))
            except OSError:
                left_out.append((path, "it cannot be read"))
    return left_out, _utc(latest)


class _Unwanted(Exception):
    """A file is left out; the text says why."""


def _copy_file(
    parent: int,
    name: str,
    target: Path,
    owner: int | None,
    limits: SizeLimits,
    room: int,
) -> tuple[int, float]:
    """Copy one file; its size in bytes, and when it was last changed.

    Folders count nothing and are not made here.
    """
    status = os.stat(name, dir_fd=parent, follow_symlinks=False)
    if stat.S_ISDIR(status.st_mode):
        return 0, 0.0
    if stat.S_ISLNK(status.st_mode):
        raise _Unwanted("it is a link")
    with _opened(name, _FILE, parent) as descriptor:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise _Unwanted("it is not a regular file")
        if owner is not None and status.st_uid != owner:
            raise _Unwanted("it is not the student's own file")
        if status.st_size > min(limits.file, room):
            raise _Unwanted("it is too large")
        with open(descriptor, "rb", closefd=False) as file:
            data = file.read(status.st_size)
        changed = os.fstat(descriptor).st_ctime  # also if it was while we read
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(data)
    return len(data), changed


def _counting(folder: int, ignore: Sequence[str]) -> Iterator[tuple[str, int, str]]:
    """The entries of a submission that count: these are copied, and these tell when."""
    entries = _entries(folder, [*ignore, "timestamp.txt"])
    return islice(entries, SizeLimits.files)


def _entries(
    folder: int, ignore: Sequence[str], path: str = ""
) -> Iterator[tuple[str, int, str]]:
    """(path, open folder, name) of all below a folder, notebooks first; no link passed.

    No deeper than a submission may be.
    """
    with os.scandir(folder) as scan:
        names = [entry.name for entry in islice(scan, SizeLimits.files)]
    for name in sorted(names, key=lambda n: (not n.endswith(".ipynb"), n)):
        if any(fnmatch.fnmatch(name, pattern) for pattern in ignore):
            continue
        here = f"{path}{name}"
        yield here, folder, name
        if here.count("/") < SizeLimits.folders_deep:
            try:
                inner = os.open(name, _FOLDER, dir_fd=folder)
            except OSError:  # not a folder, or a closed one
                continue
            try:
                yield from _entries(inner, ignore, f"{here}/")
            finally:
                os.close(inner)


@contextlib.contextmanager
def _opened(path: Path | str, flags: int, parent: int | None = None) -> Iterator[int]:
    descriptor = os.open(path, flags, dir_fd=parent)
    try:
        yield descriptor
    finally:
        os.close(descriptor)
