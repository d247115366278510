"""Read the course's own notebooks; one that is damaged says how to get it back."""

from __future__ import annotations

import functools
from pathlib import Path

import nbformat
from nbformat import NotebookNode, ValidationError

from autograder.course.errors import CourseError

# The ids of the cells that the build writes below a notebook's title: where the kit is
# published, and what finds the checks. A kit's are not those of the release.
BADGE, FINDER = GENERATED = ("badge", "find-checks")
# nbformat has no error of its own for what is JSON, but no notebook.
_DAMAGED = (ValueError, LookupError, TypeError, AttributeError, ValidationError)


def read(path: Path) -> NotebookNode:
    """A notebook in ``source/``, ``release/`` or ``autograded/``.

    Raises:
        CourseError: it cannot be read; the text says how to get it back.
    """
    return parse(text_of(path), path)


def read_valid_text(path: Path) -> str:
    """Read a notebook's text, to copy it; raises the errors of `read`."""
    text = text_of(path)
    parse(text, path)
    return text


def text_of(path: Path) -> str:
    """Read a text file of the course.

    Raises:
        CourseError: it cannot be read; the text says how to get it back.
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
        CourseError: it is no notebook; the text says how to get it back.
    """
    try:
        notebook: NotebookNode = nbformat.reads(text, as_version=4)
    except _DAMAGED:
        problem = "is damaged: it is no notebook" if text.strip() else "is empty"
        raise CourseError(f"{path} {problem}; {remedy(path)}") from None
    return notebook


@functools.lru_cache(maxsize=8)
def shared(text: str) -> NotebookNode:
    """A notebook of the course's, read once for all submissions: not to be changed."""
    notebook: NotebookNode = nbformat.reads(text, as_version=4)
    return notebook


def remedy(path: Path) -> str:
    """How a notebook comes back, which the folder that it lies in tells."""
    folder, unit = path.parent.parent.name, path.parent.name
    if folder == "source":
        return f"remove it, then: git checkout {folder}/{unit}"
    if folder == "release":
        return f"make it anew: nbgrader generate_assignment {unit} --force"
    command = f"nbgrader autograde {unit} --student={folder} --force"
    return f"grade that submission again: {command}"
