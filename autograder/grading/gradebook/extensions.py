"""Extensions of deadlines, stored with the course.

nbgrader itself can store an extension only once the student has handed in.
"""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from pathlib import Path

from autograder.course import files


def granted(root: Path, assignment: str) -> Mapping[str, datetime.timedelta]:
    """Map each student with an extension of an assignment to its length.

    Raises:
        CourseError: the file that keeps them cannot be read.
    """
    seconds = files.read_json_state(_path(root)).get(assignment, {})
    return {s: datetime.timedelta(seconds=float(n)) for s, n in seconds.items()}


def grant(root: Path, assignment: str, student: str, extra: datetime.timedelta) -> None:
    """Set a student's extension, which counts when the submission is graded next.

    Raises:
        CourseError: the file that keeps extensions cannot be read or written.
    """
    with files.changing_json_state(_path(root)) as state:
        state.setdefault(assignment, {})[student] = extra.total_seconds()


def _path(root: Path) -> Path:
    return root / ".autograder" / "extensions.json"
