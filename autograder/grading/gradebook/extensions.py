"""More time for a student: granted before or after handing in, kept with the course.

nbgrader keeps an extension in the row of a submission, which is not there before
somebody has handed in; so it is kept here, and written there whenever one is recorded.
"""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from pathlib import Path

from autograder.course import files


def granted(root: Path, assignment: str) -> Mapping[str, datetime.timedelta]:
    """The extensions of an assignment by student.

    Raises:
        CourseError: the file that keeps them cannot be read.
    """
    seconds = files.read_json_state(_path(root)).get(assignment, {})
    return {s: datetime.timedelta(seconds=float(n)) for s, n in seconds.items()}


def grant(root: Path, assignment: str, student: str, extra: datetime.timedelta) -> None:
    """Give a student ``extra`` time after the deadline, in place of any before.

    It counts when the submission is graded next.

    Raises:
        CourseError: the file that keeps extensions cannot be read or written.
    """
    with files.changing_json_state(_path(root)) as state:
        state.setdefault(assignment, {})[student] = extra.total_seconds()


def _path(root: Path) -> Path:
    return root / ".autograder" / "extensions.json"
