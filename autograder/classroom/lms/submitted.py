"""A student's folder in ``submitted/``: filled in one rename, or left as it was.

What arrives takes the place of another submission only if it is newer.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from autograder.classroom import collection_log
from autograder.classroom.collection_log import Note
from autograder.classroom.lms.archive import NotPlacedError
from autograder.course.files import locked
from autograder.grading import intake
from autograder.grading.replaced import keep_appeal, replace_hand_in

Result = TypeVar("Result")
_SOME_TIME = 946_684_800  # the year 2000


@dataclass(frozen=True)
class Place:
    """Where a student's submission of a unit lies."""

    root: Path
    student: str
    unit: str

    @property
    def folder(self) -> Path:
        return self.root / "submitted" / self.student / self.unit

    def store(
        self, files: Mapping[str, bytes], note: Note, stamp: str, replace: bool
    ) -> tuple[str, str]:
        """Store a submission, unless the stored one is newer.

        Args:
            files: by their paths there.
            note: what is kept of it, for later collections.
            stamp: what ``timestamp.txt`` is to hold; "": there is to be none.
            replace: take it also where it is unclear which is newer.

        Returns:
            What became of it, as `Placing.status` says it, and why.

        Raises:
            NotPlacedError: somebody has put a link there.
            CourseError: what was noted of others cannot be read or written.
            OSError: it cannot be written.
        """
        for path in (self.folder, self.folder.parent):  # above: a link to another disk
            if path.is_symlink():
                raise NotPlacedError(f"{path} is a link")
        with locked(self.folder):
            self._recover()
            old_note = collection_log.read(self.root, self.unit).get(self.student)
            status, reason = "placed", ""
            if self.folder.exists():
                status, reason = self._compared(files, note, stamp, replace, old_note)
                if status != "same" and self._write(files, stamp, keep_appeal):
                    asks = f"see: autograder regrade {self.unit} --requests"
                    return "same", f"asks for a regrade; {asks}"
            if status in ("placed", "replaced"):
                self._write(files, stamp, replace_hand_in)
            elif status != "same" or old_note is not None:  # None: logging was cut off
                return status, reason
            collection_log.write(self.root, self.unit, self.student, note)
            return status, reason

    def _compared(
        self, files: Mapping[str, bytes], new: Note, stamp: str, replace: bool,
        old_note: Note | None,
    ) -> tuple[str, str]:  # fmt: skip
        """The status of a new submission, compared with the stored one, and the
        reason."""
        present = intake.take(self.folder, intake.DEFAULTS).files
        stored = {p: f.data for p, f in present.items() if p not in intake.OF_NBGRADER}
        if stored == dict(files):
            is_dated = intake.STAMP in present or not stamp
            return "same" if is_dated else "replaced", ""
        if replace:
            return "replaced", ""
        claimant = old_note.claimant if old_note and old_note.lms == new.lms else ""
        if claimant and claimant != new.claimant:
            return "unclear", (
                f"what is there is from {claimant}, this from {new.claimant}; "
                "--replace takes this one"
            )
        old = self._dated(old_note or Note())
        if old.kind != new.kind or old.time == new.time:
            return "unclear", (
                "another submission is there, and which is newer cannot be told; "
                "--replace takes this one"
            )
        if old.time > new.time:
            return "older", "what is there is newer"
        return "replaced", ""

    def _dated(self, noted: Note) -> Note:
        """A new note of when the stored submission came, or else the earlier note."""
        stamp, odd = intake.handed_in(self.folder)
        if stamp and not odd and noted.kind != "zip":
            return Note("lms", stamp.replace(microsecond=0).isoformat())
        return noted

    def _write(
        self, files: Mapping[str, bytes], stamp: str,
        put: Callable[[Path, Path, Path], Result],
    ) -> Result:  # fmt: skip
        """Write a submission beside its place, then ``put`` it there in one step."""
        part = self.folder.with_name(f".{self.unit}.part")
        shutil.rmtree(part, ignore_errors=True)
        part.mkdir(parents=True)
        try:
            for number, (path, data) in enumerate(files.items()):
                (part / path).parent.mkdir(parents=True, exist_ok=True)
                (part / path).write_bytes(data)
                # Of several notebooks that are equally good, the newest is graded.
                os.utime(part / path, (_SOME_TIME + number, _SOME_TIME + number))
            if stamp:
                (part / intake.STAMP).write_text(stamp)
            return put(self.root, self.folder, part)
        finally:
            shutil.rmtree(part, ignore_errors=True)

    def _recover(self) -> None:
        """Finish, or take back, a replacement that was cut off between its steps."""
        old = self.folder.with_name(f".{self.unit}.old")
        if old.exists() and not self.folder.exists():
            old.rename(self.folder)
        shutil.rmtree(old, ignore_errors=True)
