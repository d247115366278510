"""The exchange's folders, which their students can change at any moment.

Nothing is read twice, no link is passed, and what is copied is what tells the time.
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
from autograder.grading.intake.files import READ, SEEN, first
from autograder.grading.intake.stamp import in_utc

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def last_change(folder: Path, ignore: Sequence[str]) -> datetime.datetime:
    """When anything that counts was last changed, by the clock of its file system.

    It is the inodes' time, which nobody can set; not that of the files' content. What
    cannot be looked at is not copied, either.
    """
    latest = folder.lstat().st_ctime
    with contextlib.suppress(OSError), _opened(folder, _FOLDER) as descriptor:
        for _, parent, name in _counting(descriptor, ignore):
            with contextlib.suppress(OSError):
                status = os.stat(name, dir_fd=parent, follow_symlinks=False)
                latest = max(latest, status.st_ctime)
    return in_utc(latest)


def copy(
    source: Path, target: Path, ignore: Sequence[str], owner: int | None
) -> tuple[list[tuple[str, str]], datetime.datetime]:
    """Copy the regular files of one owner.

    Returns:
        What was left out, and why; and when what was copied was last changed.

    Raises:
        OSError: it cannot be written: part of a submission is none.
    """
    limits, left_out, latest = SizeLimits(), [], 0.0
    room = limits.total
    with _opened(source, _FOLDER) as descriptor:
        for path, parent, name in _counting(descriptor, ignore):
            try:
                size, saved, changed = _copy_file(
                    parent, name, target / path, owner, limits, room
                )
                room, latest = room - size, max(latest, changed)
                limits = replace(limits, saved=limits.saved - saved)
                if saved:
                    left_out.append((path, f"its outputs only, of {saved >> 20} MB"))
            except _UnwantedError as reason:
                left_out.append((path, str(reason)))
    return left_out, in_utc(latest)


class _UnwantedError(Exception):
    """A file is left out; the text says why."""


def _copy_file(
    parent: int,
    name: str,
    target: Path,
    owner: int | None,
    limits: SizeLimits,
    room: int,
) -> tuple[int, int, float]:
    """Copy one file; its size in bytes, and when it was last changed.

    Between them the size of a notebook that is copied without its outputs, else 0.
    Folders count nothing and are not made here.
    """
    try:
        found = _read(parent, name, owner, limits, min(limits.file, room))
    except OSError:
        raise _UnwantedError("it cannot be read") from None
    if found is None:
        return 0, 0, 0.0
    data, saved, changed = found
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(data)
    return len(data), saved, changed


def _read(
    parent: int, name: str, owner: int | None, limits: SizeLimits, most: int
) -> tuple[bytes, int, float] | None:
    """What `_copy_file` copies and tells of a file; None for a folder."""
    status = os.stat(name, dir_fd=parent, follow_symlinks=False)
    if stat.S_ISDIR(status.st_mode):
        return None
    if stat.S_ISLNK(status.st_mode):
        raise _UnwantedError("it is a link")
    with _opened(name, READ, parent) as descriptor:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise _UnwantedError("it is not a regular file")
        if owner is not None and status.st_uid != owner:
            raise _UnwantedError("it is not the student's own file")
        with open(descriptor, "rb", closefd=False) as file:
            data, saved = _within(file, name, status.st_size, limits, most)
        # The time also if it was changed while we read.
        return data, saved, os.fstat(descriptor).st_ctime


def _within(
    file: IO[bytes], name: str, size: int, limits: SizeLimits, most: int
) -> tuple[bytes, int]:
    if size > limits.notebook and name.lower().endswith(".ipynb"):
        try:
            return read_slim(file, limits, most)
        except RefusedError as reason:
            raise _UnwantedError(f"it {reason}") from None
    if size > most:
        raise _UnwantedError(f"it is too large; {most >> 20} MB are left for it")
    return file.read(size), 0


def _counting(folder: int, ignore: Sequence[str]) -> Iterator[tuple[str, int, str]]:
    """The entries of a submission that count: these are copied, and these tell when."""
    entries = _entries(folder, [*ignore, STAMP])
    return islice(entries, SizeLimits.files)


def _entries(
    folder: int, ignore: Sequence[str], path: str = ""
) -> Iterator[tuple[str, int, str]]:
    """(path, open folder, name) of all below a folder, notebooks first; no link passed.

    No deeper than a submission may be.
    """
    with os.scandir(folder) as scan:
        seen = (entry.name for entry in islice(scan, SEEN))
        names = heapq.nsmallest(SizeLimits.files, seen, key=first)
    for name in names:
        if any(fnmatch.fnmatch(name, pattern) for pattern in ignore):
            continue
        here = f"{path}{name}"
        yield here, folder, name
        if here.count("/") < SizeLimits.folders_deep:
            try:
                inner = os.open(name, _FOLDER, dir_fd=folder)
            except OSError:  # not a folder, or a closed one
                continue
            try:
                yield from _entries(inner, ignore, f"{here}/")
            finally:
                os.close(inner)


@contextlib.contextmanager
def _opened(path: Path | str, flags: int, parent: int | None = None) -> Iterator[int]:
    descriptor = os.open(path, flags, dir_fd=parent)
    try:
        yield descriptor
    finally:
        os.close(descriptor)
