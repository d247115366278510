"""A sandbox's folder on disk: its size, the room that is left, and its removal.

Student code may nest folders more deeply than a path can be long.
"""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import tempfile
from pathlib import Path

from autograder.sandbox.confine import ConfinementError

_FULL = (errno.ENOSPC, errno.EDQUOT)
_TRIED = 1 << 16  # bytes
_FILES = 100
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW


class NoRoomError(ConfinementError):
    """The disk that sandboxes write to is full, so no level of confinement helps."""


def tree_size(folder: Path, most: int) -> tuple[int, int]:
    """Return the bytes on disk and the number of entries below `folder`.

    Counting stops soon after `most` entries. Raises OSError for unreadable folders.
    """
    size = count = 0
    waiting = [str(folder)]
    while waiting and count <= most:
        # What has just been removed takes no room.
        with contextlib.suppress(FileNotFoundError, NotADirectoryError):
            for entry in _entries(waiting.pop()):
                count += 1
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(entry.path)
                with contextlib.suppress(FileNotFoundError, NotADirectoryError):
                    size += entry.stat(follow_symlinks=False).st_blocks * 512
    return size, count


def lacks_room(folder: Path, needed: int) -> bool:
    """Return whether a folder's disk has no room for `needed` bytes, or for 100 files.

    To notice a disk quota, 64 KB are written as a test.
    """
    try:
        disk = os.statvfs(folder)
        if disk.f_blocks and disk.f_bavail * disk.f_frsize < needed:  # 0: unknown
            return True
        if disk.f_files and disk.f_favail < _FILES:
            return True
        with tempfile.TemporaryFile(dir=folder, buffering=0) as file:
            file.write(bytes(_TRIED))
    except OSError as error:
        return error.errno in _FULL
    return False


def full_disk_message(slot: Path) -> str:
    """Say what to do if `slot` is on a full disk."""
    folder = slot.parents[1]
    return f"there is no room in {folder}; make some, or set TMPDIR to another disk"


def remove_tree(folder: Path) -> None:
    """Remove a folder, whatever modes its content was given, and however deep it goes.

    What cannot be removed is left.
    """
    with contextlib.suppress(OSError):
        top = os.open(folder, _FOLDER)
        try:
            os.fchmod(top, 0o700)
            _empty(top)
        finally:
            os.close(top)
        os.rmdir(folder)


def _empty(top: int) -> None:
    """Remove everything in the folder whose descriptor is `top`, however deep."""
    raised: list[str] = []
    _clear(top, top, raised)
    for name in raised:  # grows meanwhile
        with contextlib.suppress(OSError):
            folder = os.open(name, _FOLDER, dir_fd=top)
            try:
                _clear(folder, top, raised)
            finally:
                os.close(folder)
            os.rmdir(name, dir_fd=top)


def _clear(folder: int, top: int, raised: list[str]) -> None:
    """Remove the files in `folder`, and move the folders in it to the folder `top`.

    Both are descriptors. The moved folders' new names are appended to `raised`. Since
    folders are moved up, no path gets long, however deep they were.
    """
    for entry in _entries(folder):
        with contextlib.suppress(OSError):
            if entry.is_dir(follow_symlinks=False):
                os.chmod(entry.name, 0o700, dir_fd=folder)
                name = secrets.token_hex(16)
                os.rename(entry.name, name, src_dir_fd=folder, dst_dir_fd=top)
                raised.append(name)
            else:
                os.unlink(entry.name, dir_fd=folder)


def _entries(folder: str | int) -> list[os.DirEntry[str]]:
    with os.scandir(folder) as entries:
        return list(entries)
