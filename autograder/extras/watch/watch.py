"""Grade on hand-in: grade submissions as they arrive, and return the feedback.

A round collects and grades all new submissions, and makes and releases their
feedback pages. A watch that was killed continues where it stopped. A student
who hands in too often has to wait, but the latest hand-in is always graded.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from nbgrader.apps import NbGraderAPI
from nbgrader.exchange.default import Exchange

from autograder.classroom.gradebook import configured
from autograder.classroom.ungraded import folders, is_graded
from autograder.course import child, graded_notebooks
from autograder.course.errors import CourseError
from autograder.course.files import write
from autograder.sandbox import logs

HOUR = 3600.0


class NotGradedError(CourseError):
    """A student's submission could not be graded; the next round tries again."""


@dataclass
class Watch:
    """Watches one assignment: grades new hand-ins, and returns their feedback.

    Args:
        steps: the commands that collect, grade and return feedback.
        per_hour: how often one student is graded in any hour, at most.
        clock: returns the time in seconds, by a clock that restarts do not reset.
    """

    unit: str
    root: Path
    steps: Commands
    per_hour: int = 6
    clock: Callable[[], float] = time.time

    def round(self) -> Iterator[str]:
        """Grade new submissions; yield each student whose feedback is finished.

        A student who hands in too often has to wait for a later round.

        Raises:
            CourseError: at the end, if something failed; the next round tries again.
        """
        failed = []
        try:
            self.steps.collect()
        except CourseError as error:  # earlier submissions can still be graded
            failed.append(str(error))
        records, handed_in = self._read_records(), folders(self.unit, self.root)
        # A mark is a digest of a hand-in's files: a new one means a new hand-in.
        marks = {student: _mark(folder) for student, folder in handed_in.items()}
        new = {s for s, mark in marks.items() if records.get(s, {}).get("mark") != mark}
        times = {student: self._recent(records.get(student, {})) for student in new}
        often = {student for student in new if len(times[student]) >= self.per_hour}
        ready = sorted(new - often)
        if ready:
            try:
                self.steps.grade(sorted(often))
            except CourseError as error:  # nothing was graded
                failed.append(str(error))
                ready = []
        for student in ready:
            try:
                self.steps.give_back(student)
            except CourseError as error:
                failed.append(str(error))
                # The attempt took as long as grading, so it counts towards the limit.
                if isinstance(error, NotGradedError):
                    self._note(student, records.get(student, {}).get("mark", ""))
                continue
            self._note(student, marks[student])
            yield student
        if failed:
            raise CourseError("; ".join(failed))

    def _recent(self, noted: dict[str, Any]) -> list[float]:
        """List the times of gradings in the last hour from a student's record."""
        moment = self.clock()
        return [t for t in noted.get("times", ()) if moment - HOUR < t <= moment]

    @property
    def _path(self) -> Path:
        return self.root / ".autograder" / "watched" / f"{self.unit}.json"

    def _read_records(self) -> dict[str, dict[str, Any]]:
        """Read what is recorded about each student; {} if there is no valid file.

        "mark" is the `_mark` of the hand-in that was graded last, and "times" lists
        when the student was graded, in seconds.
        """
        try:
            return dict(json.loads(self._path.read_text(encoding="utf-8")))
        except (OSError, ValueError):
            return {}

    def _note(self, student: str, mark: str) -> None:
        """Record that a student was graded now, with the digest of the submission."""
        records = self._read_records()
        times = [*self._recent(records.get(student, {})), self.clock()]
        records[student] = {"mark": mark, "times": times}
        write(self._path, json.dumps(records, indent=1, sort_keys=True))


def _mark(folder: Path) -> str:
    """Return a digest of a hand-in's files, by which a new hand-in is recognised.

    It is made from their names, sizes and modification times, without reading them.
    """
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        with contextlib.suppress(OSError):  # deleted in the meantime
            status = path.lstat()
            name = str(path.relative_to(folder))
            signature = (name, status.st_size, status.st_mtime_ns)
            digest.update(repr(signature).encode("utf-8", "surrogateescape"))
    return digest.hexdigest()


@dataclass
class Commands:
    """Runs nbgrader's commands for an assignment: collect, grade, and return feedback.

    Attributes:
        exchange: whether submissions are collected from nbgrader's exchange, and
            feedback is released to it.
        tell: what feedback shows before the deadline: "points", "cases" or
            "panels".
    """

    unit: str
    root: Path
    exchange: bool = False
    tell: str = "points"
    _unchanged_after_failure: set[str] = field(default_factory=set, init=False)

    @property
    def place(self) -> Path:
        """The folder that is watched: the exchange's inbox, or ``submitted/``."""
        if not self.exchange:
            return self.root / "submitted"
        app = configured(self.root)
        exchange = Exchange(coursedir=app.coursedir, config=app.config)
        return Path(exchange.root, app.coursedir.course_id, "inbound")

    def collect(self) -> None:
        """Copy new hand-ins from the exchange to ``submitted/``."""
        if self.exchange:
            self._ask("collect", self.unit, update=True)

    def grade(self, waiting: Sequence[str]) -> None:
        """Grade all new submissions except those of ``waiting`` students."""
        before = self._graded()
        is_success = self._autograde(*(f"--Autograde.waiting={s}" for s in waiting))
        after = self._graded()
        if not is_success and after == before:
            raise CourseError(f"nothing of {self.unit} was graded; see above")
        # nbgrader also fails if only one submission could not be graded. An unchanged
        # result is either up to date, or its submission could not be graded.
        unchanged = {
            student for student in after if after[student] == before.get(student)
        }
        self._unchanged_after_failure = set() if is_success else unchanged

    def _autograde(self, *options: str) -> bool:
        verbose = ["--debug"] if logs.shows_debug() else []
        words = ("autograde", self.unit, *verbose, *options)
        return child.nbgrader(self.root, *words).returncode == 0

    def _graded(self) -> dict[str, int]:
        """Map students to the time when their result was written, in nanoseconds."""
        graded = graded_notebooks(self.unit, self.root)
        return {student: path.stat().st_mtime_ns for student, path in graded.items()}

    def give_back(self, student: str) -> None:
        """Make a student's feedback page, and release it to the exchange if used.

        Raises:
            NotGradedError: the student's submission is not graded.
        """
        unsure = student in self._unchanged_after_failure
        # If it is unsure whose grading failed, this student alone is graded again.
        failed = unsure and not self._autograde(f"--student={student}")
        if not is_graded(student, self.unit, self.root, failed):
            raise NotGradedError(
                f"{student} was not graded and will be tried again; see above"
            )
        self._ask("generate_feedback", self.unit, student, force=True)
        if self.exchange:
            self._ask("release_feedback", self.unit, student)

    def _ask(self, method: str, *arguments: str, **options: bool) -> None:
        """Call a method of nbgrader's API. Raises CourseError if it fails."""
        app = configured(self.root)
        app.config.Tell.tell = self.tell
        outcome = getattr(NbGraderAPI(config=app.config), method)(*arguments, **options)
        if not outcome["success"]:
            reason = outcome.get("error") or outcome.get("log") or ""
            last = (str(reason).strip().splitlines() or ["no reason given"])[-1]
            raise CourseError(f"nbgrader {method} {' '.join(arguments)}: {last}")


@contextlib.contextmanager
def alone(root: Path, unit: str) -> Iterator[None]:
    """Prevent, in a ``with`` block, a second watch of the same assignment.

    Raises:
        CourseError: the assignment is already being watched.
    """
    path = root / ".autograder" / "watched" / f"{unit}.lock"
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise CourseError(f"{unit} is already watched by another command") from None
        yield


def run(watch: Watch, every: float, single_round: bool = False) -> int:
    """Watch until interrupted, or for a ``single_round``; return the exit status.

    ``every`` is the number of seconds between rounds.
    """
    with alone(watch.root, watch.unit):
        while True:
            is_idle = True
            try:
                for student in watch.round():
                    print(f"{time.strftime('%H:%M:%S')} {student}", flush=True)
                    is_idle = False
            except CourseError as error:
                print(f"autograder: {error}", file=sys.stderr, flush=True)
                if single_round:
                    return 1
            if single_round:
                if is_idle and (logs.shows_debug() or sys.stdout.isatty()):
                    print(f"{watch.unit}: nothing to grade in {watch.steps.place}")
                return 0
            time.sleep(every)
