"""A version of ``nbgrader collect`` that hand-ins can neither stop nor deceive.

Everything in the exchange, even a ``timestamp.txt``, was put there by students'
own processes. So only the operating system is trusted: on who owns a file, and
on when it was last changed.
"""

from __future__ import annotations

import contextlib
import datetime
import fnmatch
import glob
import operator
import os
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from nbgrader.exchange.default import ExchangeCollect

from autograder.course.access import account_name, refuse_full, refuse_path
from autograder.course.errors import CourseError, list_present
from autograder.course.files import locked
from autograder.grading.dates import find_due_date, last_moment
from autograder.grading.gradebook import extensions
from autograder.grading.intake import STAMP, parse_stamp
from autograder.grading.intake.inbound import copy, last_change
from autograder.grading.replaced import keep_appeal, replace_hand_in

# An honest `nbgrader submit` takes the time first and then copies the files.
_COPYING = datetime.timedelta(minutes=1)
_MOST = 50  # newest submissions of one student that are examined
_TIME = operator.attrgetter("time")


@dataclass(frozen=True)
class HandedIn:
    """A submission in the exchange; ``time`` is in UTC, without zone."""

    student: str
    path: Path
    time: datetime.datetime

    @property
    def is_complete(self) -> bool:
        """Whether `nbgrader submit` has finished: it writes the time last."""
        try:
            return (self.path / STAMP).lstat().st_size > 0
        except OSError:
            return False


class CourseCollect(ExchangeCollect):  # type: ignore[misc]
    """nbgrader's ``collect`` for a class that is not trusted.

    - A folder that belongs to another account than its student's is left out.
    - Links, devices and files of other accounts are left out.
    - The time of the last change counts if the folder's name gives another one.
    - An earlier submission is replaced only once the new one is complete.
    """

    def init_src(self) -> None:
        """Choose which submission to collect from each student, for ``src_records``."""
        inbound = Path(self.root) / self.coursedir.course_id / "inbound"
        if not os.access(inbound, os.R_OK | os.X_OK):
            self.fail(
                f"{inbound} cannot be read: nothing was released yet, or this account "
                "is not in the graders' group (see docs/admin.md)"
            )
        root, unit = Path(self.coursedir.root), self.coursedir.assignment_id
        try:
            refuse_path(root)
            refuse_full(root)
            due = find_due_date(self.coursedir) if self.before_duedate else None
            extra = extensions.granted(root, unit) if due else {}
        except CourseError as error:
            self.fail(str(error))
        by_student: dict[str, list[tuple[float, Path]]] = {}
        for path in sorted(inbound.iterdir()):
            with contextlib.suppress(FileNotFoundError):  # removed meanwhile
                if student := self._student(path):
                    changed = path.lstat().st_ctime
                    by_student.setdefault(student, []).append((changed, path))
        self.src_records = []
        for student, paths in by_student.items():
            if submissions := list(self._handed_in(student, paths)):
                deadline = last_moment(due, extra.get(student)) if due else None
                chosen = _latest(submissions, deadline)
                self.src_records.append(chosen)
                last = max(submissions, key=_TIME)
                if chosen.is_complete and not last.is_complete:
                    self.log.warning(
                        "%s: the last hand-in is incomplete (was the disk full?); the "
                        "one before it counts",
                        student,
                    )

    def _student(self, path: Path) -> str:
        """The student to whom a folder of the exchange belongs; "" if left out."""
        unit, wanted = self.coursedir.assignment_id, self.coursedir.student_id or "*"
        student, separator, _ = path.name.rpartition(f"+{unit}+")
        if not separator or not fnmatch.fnmatchcase(student, wanted):
            return ""
        if not student.isprintable() or student[:1] in ("", "."):
            self._leave_out(path, "its name is not one that nbgrader gives")
            return ""
        owner = account_name(path.lstat().st_uid)
        if self.check_owner and owner != student:
            self._leave_out(path, f"it belongs to {owner}, not to {student}")
            return ""
        return student

    def _handed_in(
        self, student: str, paths: Sequence[tuple[float, Path]]
    ) -> Iterator[HandedIn]:
        """Yield a student's newest submissions, the oldest of them first.

        Their number is limited, since a student may hand in ten thousand. ``paths`` are
        pairs (time of the last change in seconds, folder).
        """
        if len(paths) > _MOST:
            self.log.warning(
                "%s has handed in %d times: the newest %d count",
                student, len(paths), _MOST,
            )  # fmt: skip
        for _, path in sorted(paths)[-_MOST:]:
            with contextlib.suppress(FileNotFoundError):  # as above
                yield self._timed(student, path)

    def _timed(self, student: str, path: Path) -> HandedIn:
        """A submission with its time: that in its name, or that of a later change."""
        suffix = path.name.rpartition(f"+{self.coursedir.assignment_id}+")[2]
        stamp = suffix.partition("+")[0]
        changed = last_change(path, self.coursedir.ignore)
        claimed = parse_stamp(stamp)
        # Files are copied after the time was noted, so they may be a bit younger.
        if claimed and claimed <= changed <= claimed + _COPYING:
            return HandedIn(student, path, claimed)
        self.log.warning(
            "%s: the submission says %s, but was last changed at %s UTC, which counts",
            student, ascii(stamp), changed,
        )  # fmt: skip
        return HandedIn(student, path, changed)

    def _leave_out(self, path: Path, reason: str) -> None:
        self.log.error("Left out %s: %s", ascii(path.name), reason)

    def copy_files(self) -> None:
        """Copy the chosen submissions into ``submitted/``."""
        unit = self.coursedir.assignment_id
        outbound = Path(self.root) / self.coursedir.course_id / "outbound"
        released = sorted(p.name for p in outbound.glob("[!.]*") if p.is_dir())
        if not self.src_records and released and unit not in released:
            self.fail(f'"{unit}" was never released; {list_present(released)}')
        self.log.info("%d submissions of %s", len(self.src_records), unit)
        missed: list[str] = []
        for handed_in in self.src_records:
            student, course = handed_in.student, self.coursedir
            folder = Path(course.format_path(course.submitted_directory, student, unit))
            if folder.is_dir() and not self._replaces(handed_in, folder):
                continue
            self.log.info("Collecting: %s %s", student, unit)
            try:
                with locked(folder):
                    self._take(handed_in, folder)
            except CourseError as error:
                missed.append(str(error))
            except OSError as error:
                theirs = str(error.filename).startswith(str(handed_in.path))
                reason = f"{error.filename or folder}: {error.strerror}"
                # A student's own unreadable files do not make the command fail.
                missed += [reason] * (not theirs)
                self.log.error("%s: not collected: %s", student, reason)
        if missed:
            self.fail(
                f"{len(missed)} submissions were not collected ({missed[0]}); those "
                "before stay whole. Mend that, then run the same command again"
            )

    def _replaces(self, handed_in: HandedIn, folder: Path) -> bool:
        """Return whether a submission is to replace the one collected before."""
        try:
            text = (folder / STAMP).read_text(encoding="ascii")
        except (OSError, ValueError):
            text = ""
        stamp = parse_stamp(text.strip())
        if stamp == handed_in.time:
            self.log.info("Up to date: %s", handed_in.student)
            return False
        newer = stamp is None or handed_in.time > stamp
        # With --before-duedate, an older submission may be the one that counts.
        if not (self.before_duedate or (self.update and newer)):
            self.log.info(
                "%s has a different submission here%s", handed_in.student,
                ", a newer one: left as it is" if not newer
                else "; --update takes the new one",
            )  # fmt: skip
            return False
        return True

    def _take(self, handed_in: HandedIn, folder: Path) -> None:
        """Copy a submission, in place of the student's earlier one in ``folder``.

        A mere request for a regrade is kept beside the earlier one instead.
        """
        part = folder.with_name(f".{folder.name}.part")
        shutil.rmtree(part, ignore_errors=True)
        try:
            self._copy(handed_in, part)
            root = Path(self.coursedir.root)
            if keep_appeal(root, folder, part):
                self.log.info(
                    "%s asks for a regrade; see: autograder regrade %s --requests",
                    handed_in.student, folder.name,
                )  # fmt: skip
            else:
                replace_hand_in(root, folder, part)
        finally:
            shutil.rmtree(part, ignore_errors=True)

    def _copy(self, handed_in: HandedIn, part: Path) -> None:
        """Copy a submission's files and ``timestamp.txt`` into the new folder ``part``.

        The time in it is later than the submission's if a file changed meanwhile.
        """
        part.mkdir(parents=True)
        left_out, changed = copy(
            handed_in.path, part, self.coursedir.ignore,
            handed_in.path.lstat().st_uid if self.check_owner else None,
        )  # fmt: skip
        time = handed_in.time
        if changed > time + _COPYING:
            time = changed
            self.log.warning(
                "%s: changed while it was collected, at %s UTC, which counts",
                handed_in.student, changed,
            )  # fmt: skip
        for name, reason in left_out:
            self.log.warning(
                "%s: left out %s: %s", handed_in.student, ascii(name), reason
            )
        stamp = f"{time:%Y-%m-%d %H:%M:%S.%f} UTC"
        (part / STAMP).write_text(stamp)


def put_back(folders: str) -> Iterator[Path]:
    """Restore submissions that a killed collection has moved aside; yield the folders.

    ``folders`` is a glob pattern of the folders of submissions.
    """
    beside = Path(folders).with_name(f".{Path(folders).name}.old")
    for old in map(Path, glob.glob(str(beside))):
        folder = old.with_name(old.name.removeprefix(".").removesuffix(".old"))
        with locked(folder):  # else it may be being collected right now
            if old.exists() and not folder.exists():
                yield old.rename(folder)


def _latest(submissions: Sequence[HandedIn], due: datetime.datetime | None) -> HandedIn:
    """Choose the latest submission in time, or the latest of all if none was in time.

    Complete ones are preferred. ``due`` is the deadline in UTC without zone.
    """
    in_time = [s for s in submissions if due is None or s.time <= due]
    complete = [s for s in in_time or submissions if s.is_complete]
    return max(complete or in_time or submissions, key=_TIME)
