"""Check that this account may use a course's folders, and that the disk has room."""

from __future__ import annotations

import os
import pwd
from pathlib import Path

from autograder.course.errors import CourseError

_LONGEST = 491  # bytes: SQLite allows 512, including the file names of its databases
_ROOM = 16 << 20  # bytes, enough for the graded notebooks of some submissions


def refuse_path(root: Path) -> None:
    """Check that nbgrader and its gradebook can use a course's path.

    Raises:
        CourseError: the path is too long, or has special characters such as "*".
    """
    if odd := [letter for letter in "*?[%" if letter in str(root.absolute())]:
        raise CourseError(
            f"nbgrader misreads {' and '.join(odd)} in the path of a course; "
            f"rename the folder: {root.absolute()}"
        )
    if (excess := len(os.fsencode(root.absolute())) - _LONGEST) > 0:
        raise CourseError(
            f"the path of this course is too long for a gradebook, by {excess} bytes; "
            f"move the folder: {root.absolute()}"
        )


def refuse_full(*folders: Path) -> None:
    """Check for room on the disk, before work that would be lost without it.

    Raises:
        CourseError: the disk of a folder is full, or read-only.
    """
    for folder in map(_existing_part, folders):
        try:
            disk = os.statvfs(folder)
        except OSError as error:
            raise CourseError(f"{folder} cannot be read: {error.strerror}") from None
        free_bytes = disk.f_bavail * disk.f_frsize
        if disk.f_flag & os.ST_RDONLY:
            problem = "is read-only; make it writable"
        elif disk.f_blocks and free_bytes < _ROOM:  # 0 blocks: the size is unknown
            problem = f"has {free_bytes >> 20} MB left; make room"
        # 0 files: this disk does not limit their number.
        elif disk.f_files and disk.f_favail < 100:
            problem = f"has room for {disk.f_favail} more files; remove some"
        else:
            continue
        raise CourseError(
            f"the disk of {folder} {problem}, and run the same command again: nothing "
            "is lost"
        )


def require_access(*paths: Path) -> None:
    """Check that this account may read and write paths, or create missing ones.

    Raises:
        CourseError: it may not; the message says what to do.
    """
    for path in map(_existing_part, paths):
        needed = os.R_OK | os.W_OK | (os.X_OK if path.is_dir() else 0)
        if not os.access(path, needed):
            raise CourseError(permission_message(path))


def refuse_unreadable(*folders: Path) -> None:
    """Check that folders can be listed, because one that cannot would seem empty.

    Raises:
        CourseError: a folder exists and cannot be listed.
    """
    for folder in folders:
        if os.path.isdir(folder) and not os.access(folder, os.R_OK | os.X_OK):
            raise CourseError(permission_message(folder))


def permission_message(path: Path) -> str:
    """Say who owns a file that this account may not use, and what to do about it."""
    path = _existing_part(path)
    ours, theirs = os.geteuid(), path.stat().st_uid
    if ours == theirs:
        return f"{path} is closed to its owner, too: chmod u+rwX {path}"
    return (
        f"{path} is closed to {account_name(ours)}: it belongs to "
        f"{account_name(theirs)}. Work as that account, or share the course "
        '(docs/admin.md, "One machine, several accounts")'
    )


def _existing_part(path: Path) -> Path:
    """Return the path itself, or its nearest parent that this account can see."""
    paths = (path.absolute(), *path.absolute().parents)
    return next(candidate for candidate in paths if os.path.exists(candidate))


def account_name(uid: int) -> str:
    """The name of an account, or its number if it has no name."""
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return f"account {uid}"
