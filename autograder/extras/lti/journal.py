"""A record of the grades and files that an LMS has accepted, to send each only once."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autograder.course import files


@dataclass(frozen=True)
class Journal:
    """What the LMS has accepted for one assignment, in a file of the course.

    Entries are written at once, so that an interrupted run can be continued.
    """

    root: Path
    unit: str
    address: str

    @property
    def path(self) -> Path:
        return self.root / ".autograder" / "sent" / f"{self.unit}.json"

    def read(self) -> dict[str, dict[str, Any]]:
        """Map each student's id to what the LMS accepted: "score", "comment", "page".

        Comment and page are digests; a student's entry may lack some of the three.

        Raises:
            CourseError: the file is damaged.
        """
        accepted: dict[str, dict[str, Any]] = files.read_json_state(self.path).get(
            self.address, {}
        )
        return accepted

    def read_scores(self) -> dict[str, dict[str, Any]]:
        """Like `read`, but only for students of whom the LMS has accepted a score."""
        return {s: entry for s, entry in self.read().items() if "score" in entry}

    def accept(self, student: str, **entry: Any) -> None:
        """Record what the LMS has accepted: some of "score", "comment" and "page"."""
        with files.changing_json_state(self.path) as state:
            students = state.setdefault(self.address, {})
            students[student] = students.get(student, {}) | entry


def digest(data: str | bytes) -> str:
    """A short hash of a comment or a page."""
    data = data.encode() if isinstance(data, str) else data
    return hashlib.sha256(data).hexdigest()[:16]
