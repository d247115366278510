"""What grading noted in the notebooks of ``autograded/``, for classroom's pages."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from autograder.course.errors import CourseError
from autograder.course.files import closed
from autograder.course.notebooks import remedy
from autograder.grading.judge.record import Record
from autograder.grading.task import KEY


def read(path: Path) -> dict[str, Any]:
    """A graded notebook, as plain JSON values.

    Raises:
        CourseError: it cannot be read.
    """
    try:
        notebook: dict[str, Any] = json.loads(path.read_bytes())
        note_of(notebook)
        return notebook
    except PermissionError:
        raise CourseError(closed(path)) from None
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        raise CourseError(f"{path} cannot be read; {remedy(path)}") from None


def note_of(notebook: Mapping[str, Any]) -> dict[str, Any]:
    """All that was noted: checks, repairs, why it was refused, box, seconds."""
    return dict(notebook["metadata"].get(KEY, {}))


UNGROUPED = "no control group"


def isolation(note: Mapping[str, Any]) -> str:
    """The level that a notebook's code ran in, and whether the kernel did not count."""
    level = str(note["box"]["level"])
    # Notes of earlier versions do not say.
    grouped = note["box"].get("grouped", True) or level == "none"
    return level if grouped else f"{level}, {UNGROUPED}"


def records(note: Mapping[str, Any]) -> dict[str, Record]:
    """The judge's records of a note, by the check's grade id."""
    return {n: Record.from_json(entry) for n, entry in note.get("checks", {}).items()}
