"""Write files so that they are there as a whole, or as they were before."""

from __future__ import annotations

import contextlib
import fcntl
import os
import secrets
from collections.abc import Iterator
from pathlib import Path

from autograder.course.errors import CourseError


def write(path: Path, data: str | bytes) -> bool:
    """Replace a file as a whole, if its content differs; whether it did.

    What was written is on the disk when this returns, also after a power cut.

    Raises:
        CourseError: it cannot be written; what was there stays.
    """
    data = data.encode() if isinstance(data, str) else data
    # A name of its own: another command may be writing the same file now.
    part = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
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


def refuse_path(root: Path) -> None:
    """See that nbgrader and its gradebook read a course's path as it is written.

    Raises:
        CourseError: it has letters that they take for something else.
    """
    if odd := [letter for letter in "*?[%" if letter in str(root.absolute())]:
        raise CourseError(
            f"nbgrader reads {' and '.join(odd)} in the path of a course as something "
            f"else; rename the folder: {root.absolute()}"
        )


_ROOM = 16 << 20  # bytes: the graded notebooks of some submissions


def refuse_full(*folders: Path) -> None:
    """See that there is room to begin with: what takes long is not done in vain.

    Raises:
        CourseError: the disk of a folder is full, or read-only.
    """
    for folder in folders:
        _refuse_full(folder)


def _refuse_full(folder: Path) -> None:
    try:
        disk = os.statvfs(folder)
    except OSError as error:
        raise CourseError(f"{folder} cannot be read: {error.strerror}") from None
    why = ""
    if disk.f_flag & os.ST_RDONLY:
        why = "is read-only; make it writable"
    elif disk.f_blocks and disk.f_bavail * disk.f_frsize < _ROOM:  # 0: it does not say
        why = f"has {disk.f_bavail * disk.f_frsize >> 20} MB left; make room"
    elif disk.f_files and disk.f_favail < 100:
        why = f"has room for {disk.f_favail} more files; remove some"
    if why:
        raise CourseError(
            f"the disk of {folder.absolute()} {why}, and run the same command again: "
            "nothing is lost"
        )


@contextlib.contextmanager
def alone(path: Path) -> Iterator[None]:
    """Keep other commands from changing a file between our reading and writing it.

    They wait; on a file system without locks, they do not.

    Raises:
        CourseError: there can be no such file.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    except OSError as error:
        raise CourseError(f"{path} cannot be written: {error.strerror}") from None
    try:
        with contextlib.suppress(OSError):
            fcntl.flock(folder, fcntl.LOCK_EX)
        yield
    finally:
        os.close(folder)
