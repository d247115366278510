"""Which grades and files an LMS has accepted, so that nothing is sent twice."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autograder.course import files


@dataclass(frozen=True)
class Journal:
    """What an assignment in an LMS has accepted of a unit, in a file of the course.

    Each student is written as soon as the LMS has accepted; a run that was cut off
    continues from there.
    """

    root: Path
    unit: str
    address: str

    @property
    def path(self) -> Path:
        return self.root / ".autograder" / "sent" / f"{self.unit}.json"

    def read(self) -> dict[str, dict[str, Any]]:
        """What was accepted, by student.

        Raises:
            CourseError: the file is damaged.
        """
        accepted: dict[str, dict[str, Any]] = files.read_json_state(self.path).get(
            self.address, {}
        )
        return accepted

    def read_scores(self) -> dict[str, dict[str, Any]]:
        """What was accepted of the students who have a score there."""
        return {s: entry for s, entry in self.read().items() if "score" in entry}

    def accept(self, student: str, **entry: Any) -> None:
        """Note what the LMS has accepted for a student, beside what it had before."""
        with files.changing_json_state(self.path) as state:
            students = state.setdefault(self.address, {})
            students[student] = students.get(student, {}) | entry


def digest(data: str | bytes) -> str:
    """A short name of a comment or a page."""
    data = data.encode() if isinstance(data, str) else data
    return hashlib.sha256(data).hexdigest()[:16]
