"""A student's folder in ``submitted/``: filled in one rename, or left as it was.

What arrives takes the place of another submission only if it is newer.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from autograder.classroom import collection_log
from autograder.classroom.collection_log import Note
from autograder.classroom.lms.archive import NotPlacedError
from autograder.course.files import locked
from autograder.grading import intake

_SOME_TIME = 946_684_800  # the year 2000


@dataclass(frozen=True)
class Arrival:
    """A submission as it is to lie in ``submitted/``.

    Attributes:
        files: by their paths there.
        note: what is kept of it, for later collections.
        stamp: what ``timestamp.txt`` is to hold; "": there is to be none.
    """

    files: Mapping[str, bytes]
    note: Note
    stamp: str


@dataclass(frozen=True)
class Place:
    """Where a student's submission of a unit lies."""

    root: Path
    student: str
    unit: str

    @property
    def folder(self) -> Path:
        return self.root / "submitted" / self.student / self.unit

    def put(self, arrival: Arrival, replace: bool) -> tuple[str, str]:
        """Put a submission there, unless what is there is newer.

        Args:
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
            return self._put(arrival, replace)

    def _put(self, arrival: Arrival, replace: bool) -> tuple[str, str]:
        self._recover()
        status = "placed"
        if self.folder.exists():
            there = intake.take(self.folder, intake.DEFAULTS).files
            own = {p: f.data for p, f in there.items() if p not in intake.OF_NBGRADER}
            is_same = own == dict(arrival.files)
            if is_same and (intake.STAMP in there or not arrival.stamp):
                if self._known() is None:  # that was cut off then
                    self._keep(arrival.note)
                return "same", ""
            old, new = self._noted(), arrival.note
            if not replace and not is_same:
                known = self._known()
                another = known.claimant if known and known.lms == new.lms else ""
                if another and another != new.claimant:
                    return "unclear", (
                        f"what is there is from {another}, this from "
                        f"{new.claimant}; --replace takes this one"
                    )
                if old.kind != new.kind or old.time == new.time:
                    return "unclear", (
                        "another submission is there, and which is newer cannot be "
                        "told; --replace takes this one"
                    )
                if old.time > new.time:
                    return "older", "what is there is newer"
            status = "replaced"
        self._write(arrival)
        self._keep(arrival.note)
        return status, ""

    def _known(self) -> Note | None:
        return collection_log.read(self.root, self.unit).get(self.student)

    def _keep(self, note: Note) -> None:
        collection_log.write(self.root, self.unit, self.student, note)

    def _noted(self) -> Note:
        """When what is there was handed in, or what an earlier collection noted."""
        note = self._known()
        stamp, odd = intake.handed_in(self.folder)
        if stamp and not odd and not (note and note.kind == "zip"):
            return Note("lms", stamp.replace(microsecond=0).isoformat())
        return note or Note()

    def _write(self, arrival: Arrival) -> None:
        """Write a submission beside its place, then put it there in one step."""
        self.folder.parent.mkdir(parents=True, exist_ok=True)
        part = self._beside("part")
        shutil.rmtree(part, ignore_errors=True)
        part.mkdir()
        try:
            for number, (path, data) in enumerate(arrival.files.items()):
                (part / path).parent.mkdir(parents=True, exist_ok=True)
                (part / path).write_bytes(data)
                # Of several notebooks that are equally good, the newest is graded.
                os.utime(part / path, (_SOME_TIME + number, _SOME_TIME + number))
            if arrival.stamp:
                (part / intake.STAMP).write_text(arrival.stamp)
            self._share(part)
            if self.folder.exists():
                self.folder.rename(self._beside("old"))
            part.rename(self.folder)
        finally:
            shutil.rmtree(part, ignore_errors=True)
            self._recover()

    def _share(self, part: Path) -> None:
        """Let a group of graders write what is new, if the course folder is theirs."""
        if self.root.stat().st_mode & stat.S_IWGRP:
            for path in (part.parent, part, *part.rglob("*")):
                with contextlib.suppress(PermissionError):  # another grader's folder
                    mode = 0o2070 if path.is_dir() else 0o060
                    path.chmod(path.stat().st_mode | mode)

    def _recover(self) -> None:
        """Finish, or take back, a replacement that was cut off between its steps."""
        old = self._beside("old")
        if old.exists() and not self.folder.exists():
            old.rename(self.folder)
        shutil.rmtree(old, ignore_errors=True)

    def _beside(self, ending: str) -> Path:
        return self.folder.with_name(f".{self.folder.name}.{ending}")
