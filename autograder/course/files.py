"""Write files so that they are there as a whole, or as they were before."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from autograder.course.errors import CourseError


def write(path: Path, data: str | bytes) -> bool:
    """Replace a file as a whole, if its content differs; whether it did.

    What was written is on the disk when this returns, also after a power cut.

    Raises:
        CourseError: it cannot be written; what was there stays.
    """
    data = data.encode() if isinstance(data, str) else data
    part = path.with_name(f".{path.name}.part")
    try:
        if path.is_file() and path.read_bytes() == data:
            return False
        path.parent.mkdir(parents=True, exist_ok=True)
        with part.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    except OSError as error:
        with contextlib.suppress(OSError):
            part.unlink()
        raise CourseError(f"{path} cannot be written: {error.strerror}") from None
    return True
