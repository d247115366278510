"""The course's secret, which seeds all fresh inputs."""

from __future__ import annotations

import contextlib
import os
import secrets
import tempfile
from pathlib import Path

from autograder.course.access import permission_message
from autograder.course.errors import CourseError

_MIN_BYTES = 32  # ours has 64


def course_secret(root: Path) -> bytes:
    """The course's secret, made at its first use; students never get it.

    Raises:
        CourseError: it cannot be made or read, or its file holds no valid secret.
    """
    path = root / ".autograder" / "secret"
    try:
        if not path.exists():
            _make(path)
        secret = path.read_bytes()
    except PermissionError:  # make no new one: all inputs would change
        raise CourseError(permission_message(path)) from None
    except OSError as error:
        raise CourseError(
            f"{path} cannot be read or written: {error.strerror}"
        ) from None

    if len(secret.strip(b"\0 \t\r\n")) < _MIN_BYTES:  # a full disk, or half a backup
        raise CourseError(
            f"{path} is damaged: it is empty or too short to be a secret. Restore it "
            "from a backup; without one, delete it, and a new one is drawn (hidden "
            "inputs then differ from those of earlier grades)"
        )
    return secret


def _make(path: Path) -> None:
    """Create the secret, unless another run is quicker."""
    path.parent.mkdir(exist_ok=True)
    descriptor, part = tempfile.mkstemp(dir=path.parent)  # for us alone to read
    try:
        with os.fdopen(descriptor, "w") as file:
            file.write(secrets.token_hex(32))
            file.flush()
            os.fsync(descriptor)
        # Unlike a rename, a link never replaces what another run has put there.
        with contextlib.suppress(FileExistsError):
            os.link(part, path)
    finally:
        os.unlink(part)
