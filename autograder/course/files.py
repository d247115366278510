"""Write files so that they are there as a whole, or as they were before."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import secrets
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from autograder.course.access import permission_message
from autograder.course.errors import CourseError


def write(path: Path, data: str | bytes, *, private: bool = False) -> bool:
    """Replace a file as a whole, if its content differs; whether it did.

    What was written is on the disk when this returns, also after a power cut.

    Args:
        private: nobody but its owner can read the file.

    Raises:
        CourseError: it cannot be written; what was there stays.
    """
    data = data.encode() if isinstance(data, str) else data
    with replacing(path) as part:
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
    """Yield a path to write to; what is written then takes the place of ``path``.

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


def replace_folder(place: Path, part: Path, keep: Path | None = None) -> None:
    """Put a folder in the place of another; the old one goes when the new one is there.

    Should the machine stop between the two renames, ``.NAME.old`` has the old one.

    Args:
        keep: where the old one goes, if it is kept.
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
    if keep and old.is_dir():
        keep.parent.mkdir(parents=True, exist_ok=True)
        shutil.move(old, keep)
    shutil.rmtree(old, ignore_errors=True)


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


@contextlib.contextmanager
def changing_json_state(
    path: Path, *, private: bool = False
) -> Iterator[dict[str, Any]]:
    """What a command has noted in a file, to change; written when that is done.

    Args:
        private: nobody but its owner can read the file.

    Raises:
        CourseError: it cannot be read or written; what was there stays.
    """
    with locked(path):
        state = read_json_state(path)
        yield state
        text = json.dumps(state, indent=1, sort_keys=True)
        write(path, text, private=private)


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """Keep other commands from changing a file between our reading and writing it.

    Raises:
        CourseError: there can be no such file.
    """
    with folder_locked(path.parent):
        yield


@contextlib.contextmanager
def folder_locked(
    folder: Path, wait: Callable[[], None] = lambda: None
) -> Iterator[None]:
    """Keep other commands out of a folder, which is made if it is not there.

    They wait; on a file system without locks, they do not.

    Args:
        wait: called before we wait for another command, however long that takes.

    Raises:
        CourseError: there can be no such folder.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    except OSError as error:
        raise CourseError(f"{folder} cannot be written: {error.strerror}") from None
    try:
        with contextlib.suppress(OSError):
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                wait()
                fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
