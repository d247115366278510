"""Read the course's own notebooks, or say how to restore one that is damaged."""

from __future__ import annotations

import functools
from pathlib import Path

import nbformat
from nbformat import NotebookNode, ValidationError

from autograder.course.errors import CourseError

# The ids of the cells that the build writes below a notebook's title: the badge with
# the kit's address, and the code that loads the checks. The kit's notebooks have
# different versions of these cells than the release.
BADGE, FINDER = GENERATED = ("badge", "find-checks")
# Errors of nbformat; it has no specific one for JSON that is not a notebook.
_DAMAGED = (ValueError, LookupError, TypeError, AttributeError, ValidationError)


def read(path: Path) -> NotebookNode:
    """Read a notebook in ``source/``, ``release/`` or ``autograded/``.

    Raises:
        CourseError: it cannot be read; unless only permission is lacking, the
            message says how to restore it.
    """
    return parse(text_of(path), path)


def read_valid_text(path: Path) -> str:
    """Return the raw text of a notebook file, provided that it can be parsed.

    Raises:
        CourseError: as `read`.
    """
    text = text_of(path)
    parse(text, path)
    return text


def text_of(path: Path) -> str:
    """Read the text of a notebook's file.

    Raises:
        CourseError: it cannot be read; the message says how to restore it.
    """
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        advice = "" if isinstance(error, PermissionError) else f"; {remedy(path)}"
        raise CourseError(f"{path}: {error.strerror}{advice}") from None
    except UnicodeDecodeError:
        raise CourseError(f"{path} is not a text file; {remedy(path)}") from None


def parse(text: str, path: Path) -> NotebookNode:
    """Parse the text of a notebook's file.

    Raises:
        CourseError: it is not a notebook; the message says how to restore it.
    """
    try:
        notebook: NotebookNode = nbformat.reads(text, as_version=4)
    except _DAMAGED:
        problem = "is damaged: it is no notebook" if text.strip() else "is empty"
        raise CourseError(f"{path} {problem}; {remedy(path)}") from None
    return notebook


@functools.lru_cache(maxsize=8)
def parse_cached(text: str) -> NotebookNode:
    """Parse a notebook's text; an equal text returns the same object.

    Callers share this object, and must not change it. Eight texts are cached.
    """
    notebook: NotebookNode = nbformat.reads(text, as_version=4)
    return notebook


def remedy(path: Path) -> str:
    """Say how to restore a notebook, which depends on the folder that contains it."""
    folder, unit = path.parent.parent.name, path.parent.name
    if folder == "source":
        return f"remove it, then: git checkout {folder}/{unit}"
    if folder == "release":
        return f"make it anew: nbgrader generate_assignment {unit} --force"
    command = f"nbgrader autograde {unit} --student={folder} --force"
    return f"grade that submission again: {command}"
