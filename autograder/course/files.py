"""Write files atomically: they are either complete or as they were before."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import secrets
import shutil
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from autograder.course.access import permission_message
from autograder.course.errors import CourseError


def write(path: Path, data: str | bytes, *, private: bool = False) -> bool:
    """Write a file atomically if that changes it; return whether it was written.

    Args:
        private: whether only the owner may read the file.

    Raises:
        CourseError: the file cannot be written; an old one stays unchanged.
    """
    data = data.encode() if isinstance(data, str) else data
    with replacing(path) as part:
        # An equal file that others may read is replaced by a private one.
        is_open = private and path.is_file() and path.stat().st_mode & 0o077
        if path.is_file() and path.read_bytes() == data and not is_open:
            return False
        mode = 0o600 if private else 0o666
        with open(part, "wb", opener=lambda p, flags: os.open(p, flags, mode)) as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
    return True


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield a temporary path to write to, and rename it to ``path`` afterwards.

    The old file stays if nothing was written there, or the ``with`` block raised.

    Raises:
        CourseError: the file cannot be written; an old one stays unchanged.
    """
    # The name is unique, because another command may be writing the same file.
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


def replace_folder(place: Path, part: Path, keep: Path | None = None) -> None:
    """Move the folder ``part`` to ``place``; move an old one to ``keep`` or remove it.

    If the machine stops in between, the old folder may be called ``.NAME.old``.
    """
    place.parent.mkdir(parents=True, exist_ok=True)
    near = place.with_name(f".{place.name}.part")
    if part != near:  # a folder on another disk cannot be renamed
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
    if keep and old.is_dir():
        keep.parent.mkdir(parents=True, exist_ok=True)
        shutil.move(old, keep)
    shutil.rmtree(old, ignore_errors=True)


def read_json_state(path: Path) -> dict[str, Any]:
    """Read the state that commands keep in a JSON file; {} if there is no file.

    Raises:
        CourseError: the file cannot be read, or is damaged.
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


@contextlib.contextmanager
def changing_json_state(
    path: Path, *, private: bool = False
) -> Iterator[dict[str, Any]]:
    """Yield the state in a JSON file to be changed, and write it back afterwards.

    Raises:
        CourseError: the file cannot be read or written; an old one stays unchanged.
    """
    with locked(path):
        state = read_json_state(path)
        yield state
        text = json.dumps(state, indent=1, sort_keys=True)
        write(path, text, private=private)


def locked(path: Path) -> AbstractContextManager[None]:
    """Lock a file's folder, so that no other command changes the file in the meantime.

    Raises as `folder_locked`.
    """
    return folder_locked(path.parent)


@contextlib.contextmanager
def folder_locked(
    folder: Path, wait: Callable[[], None] = lambda: None
) -> Iterator[None]:
    """Lock a folder against other commands; it is created if it does not exist.

    Args:
        wait: called once before we wait for another command, which may take long.

    Raises:
        CourseError: the folder cannot be created or opened.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    except OSError as error:
        raise CourseError(f"{folder} cannot be written: {error.strerror}") from None
    try:
        # Some file systems have no locks: go on without one.
        with contextlib.suppress(OSError):
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                wait()
                fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
