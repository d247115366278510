"""The course's secret, which fresh inputs are drawn from."""

from __future__ import annotations

import contextlib
import os
import secrets
import tempfile
from pathlib import Path


def course_secret(root: Path) -> bytes:
    """The course's secret, made at its first use; students never get it."""
    path = root / ".autograder" / "secret"
    if not path.is_file():
        path.parent.mkdir(exist_ok=True)
        descriptor, part = tempfile.mkstemp(dir=path.parent)  # for us alone to read
        with os.fdopen(descriptor, "w") as file:
            file.write(secrets.token_hex(32))
        with contextlib.suppress(FileExistsError):  # another run was quicker
            os.link(part, path)
        os.unlink(part)
    return path.read_bytes()
