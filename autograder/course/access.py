"""Whether this account may work in a course's folders, and whether they have room."""

from __future__ import annotations

import os
import pwd
from pathlib import Path

from autograder.course.errors import CourseError

_LONGEST = 491  # bytes: SQLite takes 512, with the names of a gradebook and its journal
_ROOM = 16 << 20  # bytes: the graded notebooks of some submissions


def refuse_path(root: Path) -> None:
    """See that nbgrader and its gradebook read a course's path as it is written.

    Raises:
        CourseError: it has letters that they take for something else.
    """
    if odd := [letter for letter in "*?[%" if letter in str(root.absolute())]:
        raise CourseError(
            f"nbgrader misreads {' and '.join(odd)} in the path of a course; "
            f"rename the folder: {root.absolute()}"
        )
    if (more := len(os.fsencode(root.absolute())) - _LONGEST) > 0:
        raise CourseError(
            f"the path of this course is too long for a gradebook, by {more} "
            f"characters; move the folder: {root.absolute()}"
        )


def refuse_full(*folders: Path) -> None:
    """See that there is room to begin with: what takes long is not done in vain.

    Raises:
        CourseError: the disk of a folder is full, or read-only.
    """
    for folder in map(_what_is_there, folders):
        try:
            disk = os.statvfs(folder)
        except OSError as error:
            raise CourseError(f"{folder} cannot be read: {error.strerror}") from None
        left = disk.f_bavail * disk.f_frsize
        if disk.f_flag & os.ST_RDONLY:
            why = "is read-only; make it writable"
        elif disk.f_blocks and left < _ROOM:  # 0: it does not say
            why = f"has {left >> 20} MB left; make room"
        elif disk.f_files and disk.f_favail < 100:
            why = f"has room for {disk.f_favail} more files; remove some"
        else:
            continue
        raise CourseError(
            f"the disk of {folder} {why}, and run the same command again: nothing is "
            "lost"
        )


def refuse_closed(*paths: Path) -> None:
    """See that this account may write what is there, and make what is not.

    Raises:
        CourseError: it may not; the text says whose it is, and what to do.
    """
    for there in map(_what_is_there, paths):
        needed = os.R_OK | os.W_OK | (os.X_OK if there.is_dir() else 0)
        if not os.access(there, needed):
            raise CourseError(permission_message(there))


def refuse_unreadable(*folders: Path) -> None:
    """See that what is in some folders can be seen: a closed one looks empty.

    Raises:
        CourseError: one is there, and closed.
    """
    for folder in folders:
        if os.path.isdir(folder) and not os.access(folder, os.R_OK | os.X_OK):
            raise CourseError(permission_message(folder))


def permission_message(path: Path) -> str:
    """Whose a file is that this account may not use, and what to do about it."""
    path = _what_is_there(path)
    ours, theirs = os.geteuid(), path.stat().st_uid
    if ours == theirs:
        return f"{path} is closed to its owner, too: chmod u+rwX {path}"
    return (
        f"{path} is closed to {account_name(ours)}: it belongs to "
        f"{account_name(theirs)}. Work as that account, or share the course "
        '(docs/ta.md, "One machine, several accounts")'
    )


def _what_is_there(path: Path) -> Path:
    """A path as far as it is there, and is not hidden by a closed folder."""
    paths = (path.absolute(), *path.absolute().parents)
    return next(one for one in paths if os.path.exists(one))


def account_name(uid: int) -> str:
    """An account by its name, or by its number where it has none."""
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return f"account {uid}"
