"""Store submissions in ``submitted/`` by renaming folders, so that none is incomplete.

A new submission replaces a different one only if it is newer, or if that is asked for.
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
_SOME_TIME = 946_684_800  # the year 2000, in seconds since 1970


@dataclass(frozen=True)
class Place:
    """The place where a student's submission of a unit is stored."""

    root: Path
    student: str
    unit: str

    @property
    def folder(self) -> Path:
        return self.root / "submitted" / self.student / self.unit

    def store(
        self, files: Mapping[str, bytes], note: Note, stamp: str, replace: bool
    ) -> tuple[str, str]:
        """Store a submission, if there is none yet or only an older one.

        One that only asks for a regrade does not replace another; it is kept elsewhere.

        Args:
            stamp: the content of ``timestamp.txt``; "" for no such file.
            replace: whether to store it even if the stored one is, or may be, newer.

        Returns:
            The outcome, as in `Placing.status`, and the reason for it.

        Raises:
            NotPlacedError: there is a link or a file where a folder is expected.
            CourseError: notes or stored files cannot be read or written.
            OSError: the submission cannot be written.
        """
        for path in (self.folder, self.folder.parent):  # above: a link to another disk
            if path.is_symlink():
                raise NotPlacedError(f"{path} is a link")
            if path.exists() and not path.is_dir():
                raise NotPlacedError(f"{path} is not a folder")
        with locked(self.folder):
            self._recover()
            old_note = collection_log.read(self.root, self.unit).get(self.student)
            status, reason = "placed", ""
            if self.folder.exists():
                status, reason = self._compared(files, note, stamp, replace, old_note)
                # `keep_appeal` takes the new files only if they just ask for a regrade.
                if status != "same" and self._write(files, stamp, keep_appeal):
                    asks = f"see: autograder regrade {self.unit} --requests"
                    return "same", f"asks for a regrade; {asks}"
            if status in ("placed", "replaced"):
                self._write(files, stamp, replace_hand_in)
            # "same" without a note: an earlier collection stopped before writing it.
            elif status != "same" or old_note is not None:
                return status, reason
            collection_log.write(self.root, self.unit, self.student, note)
            return status, reason

    def _compared(
        self, files: Mapping[str, bytes], new: Note, stamp: str, replace: bool,
        old_note: Note | None,
    ) -> tuple[str, str]:  # fmt: skip
        """Compare a new submission with the stored one.

        Returns:
            The outcome, as in `Placing.status`, and the reason for it.
        """
        present = intake.take(self.folder, intake.DEFAULTS).files
        stored = {p: f.data for p, f in present.items() if p not in intake.OF_NBGRADER}
        if stored == dict(files):
            if not stamp:
                return "same", ""
            if intake.STAMP not in present:
                return "replaced", "the same files, now with their time"
            earlier = present[intake.STAMP].data.decode(errors="replace").strip()
            if earlier == stamp:
                return "same", ""
            if replace:
                return "replaced", f"the same files; their time was {earlier}"
            return "same", f"its time stays {earlier}; --replace sets {stamp}"
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
        """Return a `Note` on when the stored submission was handed in.

        Its time is usually that in ``timestamp.txt``; otherwise, ``noted`` is returned.
        """
        stamp, odd = intake.handed_in(self.folder)
        if stamp and not odd and noted.kind != "zip":
            return Note("lms", stamp.replace(microsecond=0).isoformat())
        return noted

    def _write(
        self, files: Mapping[str, bytes], stamp: str,
        put: Callable[[Path, Path, Path], Result],
    ) -> Result:  # fmt: skip
        """Write a submission to a new folder, and return the result of ``put``.

        ``put`` gets the course folder, the place and the new folder, which it may move.
        """
        part = self.folder.with_name(f".{self.unit}.part")
        shutil.rmtree(part, ignore_errors=True)
        part.mkdir(parents=True)
        try:
            for number, (path, data) in enumerate(files.items()):
                (part / path).parent.mkdir(parents=True, exist_ok=True)
                (part / path).write_bytes(data)
                # If several notebooks are equally good, the newest is graded, so later
                # uploads get later times.
                os.utime(part / path, (_SOME_TIME + number, _SOME_TIME + number))
            if stamp:
                (part / intake.STAMP).write_text(stamp)
            return put(self.root, self.folder, part)
        finally:
            shutil.rmtree(part, ignore_errors=True)

    def _recover(self) -> None:
        """Finish or undo a replacement that was interrupted."""
        old = self.folder.with_name(f".{self.unit}.old")
        if old.exists() and not self.folder.exists():
            old.rename(self.folder)
        shutil.rmtree(old, ignore_errors=True)
