"""Read the exchange's folders, which students can change at any moment.

Nothing is read twice, no link is followed, and the time of a hand-in is that of the
files that are copied.
"""

from __future__ import annotations

import contextlib
import datetime
import fnmatch
import heapq
import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import IO

from autograder.grading.intake import STAMP, RefusedError, SizeLimits, read_slim
from autograder.grading.intake.common import UnreadableError
from autograder.grading.intake.files import SEEN, notebooks_first, open_file
from autograder.grading.intake.stamp import in_utc

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def last_change(folder: Path, ignore: Sequence[str]) -> datetime.datetime:
    """Return when a submission's folder or its files last changed.

    This is the inode change time, which no student can set, in UTC without zone.
    """
    latest = folder.lstat().st_ctime
    with contextlib.suppress(OSError), _open_folder(folder) as descriptor:
        for _, parent, name in _limited_entries(descriptor, ignore):
            with contextlib.suppress(OSError):
                status = os.stat(name, dir_fd=parent, follow_symlinks=False)
                latest = max(latest, status.st_ctime)
    return in_utc(latest)


def copy(
    source: Path, target: Path, ignore: Sequence[str], owner: int | None
) -> tuple[list[tuple[str, str]], datetime.datetime]:
    """Copy a submission out of the exchange, without following links.

    Args:
        owner: the user id whose files are copied; None for all files.

    Returns:
        What was left out, as pairs (path, reason); and when the copied files last
        changed, in UTC without zone.

    Raises:
        OSError: the copy cannot be written completely.
    """
    limits, left_out, latest = SizeLimits(), [], 0.0
    room = limits.total
    with _open_folder(source) as descriptor:
        for path, parent, name in _limited_entries(descriptor, ignore):
            try:
                content = _read(parent, name, owner, limits, min(limits.file, room))
            except RefusedError as reason:
                left_out.append((path, f"it {reason}"))
                continue
            except (OSError, UnreadableError):
                left_out.append((path, "it cannot be read"))
                continue
            if content is None:  # folders are made for their files
                continue
            data, saved, status = content
            (target / path).parent.mkdir(parents=True, exist_ok=True)
            (target / path).write_bytes(data)
            # Of several notebooks the newest is graded: keep the student's times.
            os.utime(target / path, ns=(status.st_mtime_ns, status.st_mtime_ns))
            room, latest = room - len(data), max(latest, status.st_ctime)
            limits = replace(limits, saved=limits.saved - saved)
            if saved:
                left_out.append((path, f"its outputs only, of {saved >> 20} MB"))
    return left_out, in_utc(latest)


def _read(
    parent: int, name: str, owner: int | None, limits: SizeLimits, most: int
) -> tuple[bytes, int, os.stat_result] | None:
    """Read a file of a submission; return None if it is a folder.

    Args:
        parent: the descriptor of the open folder in which the file is.
        owner: the user id of the account that must own the file; None for any.
        most: the bytes that are left for the file.

    Returns:
        The content; the full size of a notebook whose outputs were left out, else 0;
        and the file's status after it was read.

    Raises:
        RefusedError: the file is a link, another account's, or too large, for example.
        UnreadableError, OSError: it cannot be read.
    """
    status = os.stat(name, dir_fd=parent, follow_symlinks=False)
    if stat.S_ISDIR(status.st_mode):
        return None
    if stat.S_ISLNK(status.st_mode):
        raise RefusedError("is a link")
    with open_file(name, parent) as (file, status):
        if owner is not None and status.st_uid != owner:
            raise RefusedError("is not the student's own file")
        data, saved = _read_limited(file, name, status.st_size, limits, most)
        # Looked up after reading, to include changes made meanwhile.
        return data, saved, os.fstat(file.fileno())


def _read_limited(
    file: IO[bytes], name: str, size: int, limits: SizeLimits, most: int
) -> tuple[bytes, int]:
    """Read a file of at most ``most`` bytes; drop the outputs of a large notebook.

    Returns:
        The content, and the notebook's full size if outputs were left out, else 0.

    Raises:
        RefusedError: the file is too large.
    """
    if size > limits.notebook and name.lower().endswith(".ipynb"):
        return read_slim(file, limits, most)
    if size > most:
        raise RefusedError(f"is too large; {most >> 20} MB are left for it")
    return file.read(size), 0


def _limited_entries(
    folder: int, ignore: Sequence[str]
) -> Iterator[tuple[str, int, str]]:
    """Yield the entries of a hand-in to consider, in the format of `_entries`."""
    entries = _entries(folder, [*ignore, STAMP])
    return islice(entries, SizeLimits.files)


def _entries(
    folder: int, ignore: Sequence[str], path: str = ""
) -> Iterator[tuple[str, int, str]]:
    """Yield (path, open folder, name) of what is below a folder, notebooks first.

    The open folder is a descriptor, valid until the next entry is asked for.

    Args:
        path: what to put before the paths of the entries.
    """
    with os.scandir(folder) as scan:
        candidates = (entry.name for entry in islice(scan, SEEN))
        names = heapq.nsmallest(SizeLimits.files, candidates, key=notebooks_first)
    for name in names:
        if any(fnmatch.fnmatch(name, pattern) for pattern in ignore):
            continue
        entry_path = f"{path}{name}"
        yield entry_path, folder, name
        if entry_path.count("/") < SizeLimits.folders_deep:
            try:
                inner = os.open(name, _FOLDER, dir_fd=folder)
            except OSError:  # not a folder, or unreadable
                continue
            try:
                yield from _entries(inner, ignore, f"{entry_path}/")
            finally:
                os.close(inner)


@contextlib.contextmanager
def _open_folder(folder: Path) -> Iterator[int]:
    """Open a folder, without following a link, for as long as it is used."""
    descriptor = os.open(folder, _FOLDER)
    try:
        yield descriptor
    finally:
        os.close(descriptor)
