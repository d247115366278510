"""Write files so that they are there as a whole, or as they were before."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import pwd
import secrets
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from autograder.course.errors import CourseError

_LONGEST = 491  # bytes: SQLite takes 512, with the names of a gradebook and its journal


def write(path: Path, data: str | bytes) -> bool:
    """Replace a file as a whole, if its content differs; whether it did.

    What was written is on the disk when this returns, also after a power cut.

    Raises:
        CourseError: it cannot be written; what was there stays.
    """
    data = data.encode() if isinstance(data, str) else data
    with replacing(path) as part:
        if path.is_file() and path.read_bytes() == data:
            return False
        with part.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
    return True


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Where to write what is then to take the place of a file, if anything is.

    Raises:
        CourseError: it cannot be written; what was there stays.
    """
    # A name of its own: another command may be writing the same file now.
    part = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        yield part
        if part.exists():
            part.replace(path)
    except OSError as error:
        raise CourseError(f"{path} cannot be written: {error.strerror}") from None
    finally:
        with contextlib.suppress(OSError):
            part.unlink()


def replace_folder(place: Path, part: Path) -> None:
    """Put a folder in the place of another; the old one goes when the new one is there.

    Should the machine stop between the two renames, ``.NAME.old`` has the old one.
    """
    place.parent.mkdir(parents=True, exist_ok=True)
    near = place.with_name(f".{place.name}.part")
    if part != near:  # which may be on another disk
        shutil.rmtree(near, ignore_errors=True)
        part = Path(shutil.move(part, near))
    old = place.with_name(f".{place.name}.old")
    if place.is_dir():
        shutil.rmtree(old, ignore_errors=True)
        place.rename(old)
    try:
        part.rename(place)
    except OSError:
        if old.is_dir():
            old.rename(place)
        raise
    shutil.rmtree(old, ignore_errors=True)


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


def read_json_state(path: Path) -> dict[str, Any]:
    """What a command has noted in a file; {} where nothing was.

    Raises:
        CourseError: it cannot be read. To go on without it, what others noted would be
            lost with the next note.
    """
    try:
        return dict(json.loads(path.read_text(encoding="utf-8")))
    except FileNotFoundError:
        return {}
    except PermissionError:
        raise CourseError(permission_message(path)) from None
    except OSError as error:
        raise CourseError(f"{path} cannot be read: {error.strerror}") from None
    except (ValueError, TypeError):
        raise CourseError(f"{path} is damaged; repair or remove it") from None


_ROOM = 16 << 20  # bytes: the graded notebooks of some submissions


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
        f"{path} is closed to {_account(ours)}: it belongs to {_account(theirs)}. Work "
        'as that account, or share the course (docs/ta.md, "One machine, several '
        'accounts")'
    )


def _what_is_there(path: Path) -> Path:
    """A path as far as it is there, and is not hidden by a closed folder."""
    paths = (path.absolute(), *path.absolute().parents)
    return next(one for one in paths if os.path.exists(one))


def _account(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return f"account {uid}"


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
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
