"""The course's secret, which fresh inputs are drawn from."""

from __future__ import annotations

import contextlib
import os
import secrets
import tempfile
from pathlib import Path

from autograder.course.access import permission_message
from autograder.course.errors import CourseError


def course_secret(root: Path) -> bytes:
    """The course's secret, made at its first use; students never get it.

    Raises:
        CourseError: it cannot be made, or read.
    """
    path = root / ".autograder" / "secret"
    try:
        with contextlib.suppress(FileNotFoundError):
            return path.read_bytes()
        _make(path)
        return path.read_bytes()
    except PermissionError:  # never another one: it draws other inputs
        raise CourseError(permission_message(path)) from None
    except OSError as error:
        raise CourseError(
            f"{path} cannot be read or written: {error.strerror}"
        ) from None


def _make(path: Path) -> None:
    path.parent.mkdir(exist_ok=True)
    descriptor, part = tempfile.mkstemp(dir=path.parent)  # for us alone to read
    try:
        with os.fdopen(descriptor, "w") as file:
            file.write(secrets.token_hex(32))
            file.flush()
            os.fsync(descriptor)
        with contextlib.suppress(FileExistsError):  # another run was quicker
            os.link(part, path)
    finally:
        os.unlink(part)
