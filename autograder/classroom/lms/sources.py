"""Open archives of submissions: a zip, a folder, or zips inside of either."""

from __future__ import annotations

import datetime
import io
import os
import stat
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import IO

from autograder.classroom.lms.archive import (
    MOST_MEMBERS,
    NOISE,
    Archive,
    Member,
    NotPlacedError,
    Source,
    plain,
)
from autograder.classroom.lms.layouts import is_known

DEEPEST = 4  # levels of folders around the LMS's files, and of zips in zips
_LARGEST_INNER = 2 << 30  # bytes of a zip in a zip
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class Folder(Source):
    """An unpacked archive; links and other files that are not regular are left out.

    Raises:
        NotPlacedError: it has too many files.
    """

    def __init__(self, path: Path):
        super().__init__(path)
        for folder, _, names in os.walk(path):
            for name in sorted(names):
                self._add(Path(folder) / name)

    def _add(self, path: Path) -> None:
        """Add a file to the members, or to those that are left out."""
        name = plain(path.relative_to(self.path).as_posix())
        if NOISE.search(name):
            return
        status = path.lstat()
        if not stat.S_ISREG(status.st_mode):
            self.leave_out(name, "it is a link or a device")
        elif not name.isprintable():
            self.leave_out(name, "its name is not plain text")
        else:
            self.members.append(Member(name, status.st_size, _time(status), path))
        if len(self.members) > MOST_MEMBERS:
            raise NotPlacedError(f"it has more than {MOST_MEMBERS} members")

    @contextmanager
    def open_member(self, member: Member) -> Iterator[IO[bytes]]:
        """Open a file; a link that has taken its place meanwhile is refused."""
        try:
            with os.fdopen(os.open(member.place, _READ), "rb") as file:
                yield file
        except OSError as error:
            raise NotPlacedError(f"cannot be read: {error.strerror}") from None


def _time(status: os.stat_result) -> datetime.datetime | None:
    """The time when a file was last changed; None if it is not a valid date."""
    try:
        return datetime.datetime.fromtimestamp(int(status.st_mtime))
    except (ValueError, OverflowError, OSError):
        return None


def open_source(path: Path) -> AbstractContextManager[Source]:
    """Open an archive or a folder.

    Raises:
        NotPlacedError: it is neither, or manipulated.
    """
    return nullcontext(Folder(path)) if path.is_dir() else Archive(path)


def inside(source: Source, member: Member, most: int) -> Archive:
    """Open a zip that is a member of a source, in memory.

    Raises:
        NotPlacedError: it is not a zip, or larger than ``most`` bytes.
    """
    data = io.BytesIO(source.read(member, most))
    return Archive(source.path.with_name(Path(member.name).name), data)


def pieces(source: Source, deepest: int = DEEPEST) -> Iterator[Source]:
    """Yield each archive in a source: the source itself, or the zips that it contains.

    The zips are archives only if there is nothing else, and no zip's name shows
    that a student handed it in.

    Args:
        deepest: how many levels of zips in zips are opened.

    Raises:
        NotPlacedError: a zip cannot be read; raised after the other archives.
    """
    for _ in range(DEEPEST):
        is_recognized = any(is_known(member.name) for member in source.members)
        if is_recognized or not strip_top(source):
            break
    zips = [m for m in source.members if m.name.lower().endswith(".zip")]
    if is_recognized or not deepest or not zips or len(zips) < len(source.members):
        yield source
        return
    faults = []
    for member in zips:
        try:
            with inside(source, member, _LARGEST_INNER) as inner:
                yield from pieces(inner, deepest - 1)
        except NotPlacedError as fault:
            faults.append(f"{member.name}: {fault}")
    if faults:
        raise NotPlacedError("; ".join(faults))


def strip_top(source: Source) -> bool:
    """Remove the top folder from all names, if they share one; return whether they do.

    Some LMSs or people pack a folder around everything.
    """
    tops = {member.name.partition("/")[0] for member in source.members}
    if len(tops) != 1 or not all("/" in member.name for member in source.members):
        return False
    source.members = [replace(m, name=m.name.partition("/")[2]) for m in source.members]
    return True
