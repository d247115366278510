"""Read the folder that a student handed in, whatever it contains."""

from __future__ import annotations

import fnmatch
import os
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from autograder.checks.words import PROGRESS
from autograder.grading.intake.common import (
    DEFAULTS,
    RefusedError,
    Repair,
    SizeLimits,
    UnreadableError,
    join_names,
)
from autograder.grading.intake.slimming import OUTPUTS, describe_slimming, read_slim


@dataclass(frozen=True)
class File:
    """A regular file of a submission: its content and the time of its last change."""

    data: bytes
    time: float = 0.0


@dataclass(frozen=True)
class Taken:
    """What was read from a folder: its files by relative path, and what was left out.

    ``why_no_notebook`` is the reason, if there were notebooks but none could be read.
    """

    files: Mapping[str, File]
    repairs: tuple[Repair, ...] = ()
    why_no_notebook: str = ""


SEEN = 100_000  # directory entries that are examined, to find the notebooks
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def take(
    folder: Path, limits: SizeLimits = DEFAULTS, ignore: Sequence[str] = ()
) -> Taken:
    """Read the regular files of a submission's folder, notebooks first.

    Links, special files and files that are too large are left out and reported.
    Unprintable characters in names become "_".

    Args:
        ignore: file name patterns to skip silently.

    Raises:
        RefusedError: the folder itself is a link, not a folder, or unreadable.
        UnreadableError: this account may not read something in it.
    """
    left_out: dict[str, list[str]] = {}
    names = _printable(_walk(folder, limits, ignore, left_out), left_out)
    paths = sorted(names, key=notebooks_first)
    if len(paths) > limits.files:
        crowd = left_out.setdefault("are too many files", [])
        crowd += paths[limits.files :]
    files: dict[str, File] = {}
    repairs: list[Repair] = []
    # `room` is left for what is kept, `spare` for notebooks that are slimmed.
    why_no_notebook, room, spare = "", limits.total, limits.saved
    for path in paths[: limits.files]:
        within = replace(limits, saved=spare)
        try:
            files[path], size = _read(folder / names[path], within, room)
            room, spare = room - len(files[path].data), spare - size
            if size:
                message = describe_slimming(join_names([path]), size)
                repairs.append(Repair(OUTPUTS, message))
        except RefusedError as reason:
            left_out.setdefault(str(reason), []).append(path)
            if _is_notebook(path):
                why_no_notebook = why_no_notebook or f"{join_names([path])} {reason}"
    if any(map(_is_notebook, files)):
        why_no_notebook = ""
    for objection, omitted in left_out.items():
        message = f"Left out: {join_names(omitted)} ({objection})."
        repairs.append(Repair("file left out", message))
    return Taken(files, tuple(repairs), why_no_notebook)


def _printable(paths: Iterable[str], left_out: dict[str, list[str]]) -> dict[str, str]:
    """Map the printable form of each path to the path itself.

    If two have the same form, one is added to ``left_out`` (reason -> paths).
    """
    names: dict[str, str] = {}
    folders: set[str] = set()
    # Plain names come first, so that no replaced name takes theirs.
    for path in sorted(paths, key=lambda path: (not path.isprintable(), path)):
        plain = "".join(c if c.isprintable() else "_" for c in path)
        above = {str(folder) for folder in PurePosixPath(plain).parents}
        if {plain, *above} & names.keys() or plain in folders:
            left_out.setdefault("has a name that is not plain text", []).append(path)
        else:
            names[plain] = path
            folders |= above
    return names


def _read(path: Path, limits: SizeLimits, room: int) -> tuple[File, int]:
    """Read a file within the limits; ``room`` bytes are left for all files.

    Also returns the size of a notebook whose outputs had to be left out, else 0.
    """
    if not _is_notebook(path.name):
        message = f"is larger than {limits.file >> 20} MB"
        if room < limits.file:
            message = f"is beyond the {limits.total >> 20} MB of all files together"
        return read_file(path, min(limits.file, room), message), 0
    with open_file(path) as (file, status):
        data, size = read_slim(file, limits, min(limits.file, room))
    return File(data, status.st_mtime), size


def _is_notebook(path: str) -> bool:
    return path.lower().endswith(".ipynb")


def _walk(
    folder: Path, limits: SizeLimits, ignore: Sequence[str],
    left_out: dict[str, list[str]],
) -> Iterator[str]:  # fmt: skip
    """Yield relative paths of regular files; add the rest to ``left_out`` by reason."""
    if folder.is_symlink() or not folder.is_dir():
        raise RefusedError("the submission is not a folder")
    waiting, count = [""], 0
    while waiting:
        subfolder = waiting.pop()
        try:
            entries = _entries(folder / subfolder)
        except PermissionError as error:
            raise UnreadableError(folder / subfolder, error) from None
        except OSError:
            if not subfolder:
                raise RefusedError("the submission's folder cannot be read") from None
            left_out.setdefault("cannot be read", []).append(subfolder)
            continue
        for entry in entries:
            count += 1
            if count > SEEN:
                crowd = left_out.setdefault("are too many files", [])
                crowd.append(f"{subfolder or '.'}/…")
                return
            path = f"{subfolder}/{entry.name}".lstrip("/")
            if any(fnmatch.fnmatch(entry.name, p) for p in (PROGRESS, *ignore)):
                continue
            reason = _objection(entry, path, limits)
            if reason:
                left_out.setdefault(reason, []).append(path)
            elif entry.is_dir(follow_symlinks=False):
                waiting.append(path)
            else:
                yield path


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    with os.scandir(folder) as scan:
        return sorted(islice(scan, SEEN + 1), key=lambda entry: entry.name)


def notebooks_first(name: str) -> tuple[bool, str]:
    """A sort key by which notebooks are taken before all other files."""
    return not _is_notebook(name), name


def _objection(entry: os.DirEntry[str], path: str, limits: SizeLimits) -> str:
    """The reason to leave out an entry; "" if there is none."""
    if len(path) > 1000:
        return "has a path that is too long"
    if entry.is_symlink():
        return "is a link"
    if entry.is_dir(follow_symlinks=False):
        return "lies too deep" if path.count("/") >= limits.folders_deep else ""
    return "" if entry.is_file(follow_symlinks=False) else "is not a regular file"


def read_file(path: Path, most: int, message: str = "is too large") -> File:
    """Read a regular file of at most ``most`` bytes.

    Raises:
        RefusedError: it is not a regular file, or too large (with ``message``).
        UnreadableError: this account may not read it.
    """
    with open_file(path) as (file, status):
        data = b"" if status.st_size > most else file.read(most + 1)
    if max(status.st_size, len(data)) > most:
        raise RefusedError(message)
    return File(data, status.st_mtime)


@contextmanager
def open_file(
    path: Path | str, folder: int | None = None
) -> Iterator[tuple[BinaryIO, os.stat_result]]:
    """Open a regular file, without following a link; raises what `read_file` does.

    ``folder`` is the descriptor of an open folder, to which ``path`` is relative.
    """
    try:
        descriptor = os.open(path, _READ, dir_fd=folder)
    except PermissionError as error:
        raise UnreadableError(path, error) from None
    except OSError:
        raise RefusedError("cannot be read") from None
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode):  # `open` would neither open nor close a folder
        os.close(descriptor)
        raise RefusedError("is not a regular file")
    with open(descriptor, "rb") as file:
        try:
            yield file, status
        except OSError:
            raise RefusedError("cannot be read") from None
