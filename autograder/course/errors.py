"""The one kind of error that a person is meant to read."""

from __future__ import annotations

import traceback
from pathlib import Path


class CourseError(Exception):
    """Bad input or a broken course: the text says in one line what to do about it."""


class UsageError(CourseError):
    """A command line that cannot be, like an option's value or a unit's name."""


def describe_fault(
    error: Exception, root: Path, within: Path | None = None, otherwise: str = ""
) -> str:
    """An error that nobody expected, in one line: where it was raised, and what it is.

    Args:
        root: the course; files are named relative to it.
        within: of the files that the error came through, the innermost in this folder
            is named; by default, in the course.
        otherwise: the file to name where there is none of these.
    """
    if isinstance(error, CourseError):
        return str(error)
    places = [(f.filename, f.lineno) for f in traceback.extract_tb(error.__traceback__)]
    text = str(error)
    if isinstance(error, SyntaxError) and error.filename:
        text = error.msg
        places.append((error.filename, error.lineno))
    first = next(iter(text.splitlines()), "")
    message = f"{type(error).__name__}: {first}".removesuffix(": ")
    for name, line in reversed(places):
        if Path(name).is_relative_to(within or root):
            return f"{Path(name).relative_to(root)}:{line}: {message}"
    return f"{otherwise}: {message}" if otherwise else message
