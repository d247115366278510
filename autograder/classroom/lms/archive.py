"""Read a zip from an untrusted source, within limits and without writing any file.

A faulty archive raises `NotPlacedError`; an odd member is only left out.
"""

from __future__ import annotations

import datetime
import re
import stat
import struct
import unicodedata
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from autograder.course.printable import printable
from autograder.grading.intake import RefusedError

# Enough for a class in which some hand in thousands of files. The size of a member is
# limited when it is read.
MOST_MEMBERS = 500_000
_LONGEST_NAME = 1000
_SHOWN = 200  # letters that are shown of the name of a member that is left out
_UTF8 = 0x800  # flag: the name is in UTF-8
_ENCRYPTED = 0x1
NOISE = re.compile(r"(^|/)(__MACOSX/|\.DS_Store$|Thumbs\.db$|\.ipynb_checkpoints/)")
_FAULTS = (zipfile.BadZipFile, zlib.error, EOFError, OSError, NotImplementedError,
           ValueError, LookupError, RuntimeError, struct.error)  # fmt: skip


class NotPlacedError(Exception):
    """An archive or a member cannot be used; the message says why."""


@dataclass(frozen=True)
class Member:
    """A regular file of an archive or of a folder.

    ``time`` is naive; ``place`` is what the source needs to open the member.
    """

    name: str
    size: int
    time: datetime.datetime | None
    place: Any


class Source:
    """An archive or folder: the members that can be read, and those left out.

    A subclass fills ``members`` and defines `open_member`. ``left_out`` has the name of
    each member that was left out, and the reason.
    """

    def __init__(self, path: Path):
        self.path = path
        self.members: list[Member] = []
        self.left_out: list[tuple[str, str]] = []

    def leave_out(self, name: str, reason: str) -> None:
        """Record that a member is not used, and why."""
        self.left_out.append((printable(name)[:_SHOWN], reason))

    def open_member(self, member: Member) -> AbstractContextManager[IO[bytes]]:
        """Open a member to read it in pieces.

        Raises:
            NotPlacedError: it cannot be opened, or reading it fails later.
        """
        raise NotImplementedError

    def read(self, member: Member, most: int) -> bytes:
        """Read a member.

        Raises:
            NotPlacedError: it is larger than ``most`` bytes, or cannot be read.
        """
        if member.size > most:
            raise NotPlacedError(f"larger than {most >> 20} MB")
        with self.open_member(member) as file:
            data = file.read(most + 1)
        if len(data) > most:
            raise NotPlacedError(f"larger than {most >> 20} MB")
        return data


class Archive(Source):
    """A zip file, at ``path`` or with the content ``file``.

    Raises:
        NotPlacedError: it is no zip that can be read safely.
    """

    def __init__(self, path: Path, file: IO[bytes] | None = None):
        super().__init__(path)
        try:
            self._zip = zipfile.ZipFile(file or path)
        except UnicodeDecodeError:
            raise NotPlacedError("a name in it is in a broken encoding") from None
        except FileNotFoundError:
            raise NotPlacedError("there is no such file") from None
        except _FAULTS:
            fault = "it is not a readable zip; download it again"
            raise NotPlacedError(fault) from None
        self._check_whole()
        self.members = list(self._members())

    def __enter__(self) -> Archive:
        return self

    def __exit__(self, *_: object) -> None:
        self._zip.close()

    @contextmanager
    def open_member(self, member: Member) -> Iterator[IO[bytes]]:
        """Open a member; any fault while it is read becomes a `NotPlacedError`."""
        try:
            with self._zip.open(member.place) as file:
                yield file
        except RefusedError:  # raised by the reader, who found too much content
            raise
        except Exception:  # each compression method raises different errors
            raise NotPlacedError(
                "damaged, or compressed by an unknown method"
            ) from None

    def _check_whole(self) -> None:
        """Refuse an archive with too many members, or with members that overlap.

        If members overlap, a small archive may unpack to a huge size.
        """
        infos = self._zip.infolist()
        if len(infos) > MOST_MEMBERS:
            raise NotPlacedError(f"it has more than {MOST_MEMBERS} members")
        end = 0  # overlapping members let a small archive unpack to a huge size
        for info in sorted(infos, key=lambda info: info.header_offset):
            if info.header_offset < end:
                fault = "its members overlap, as only in a manipulated archive"
                raise NotPlacedError(fault)
            # A member's header takes 30 bytes or more, and its data follow.
            end = info.header_offset + 30 + info.compress_size

    def _members(self) -> Iterator[Member]:
        """Yield the files that an LMS may have written, and leave out the others."""
        # `is_dir` of Python 3.11 fails on an empty name, which hostile archives have.
        infos = [i for i in self._zip.infolist() if not i.filename.endswith("/")]
        named = [(info, _name(info)) for info in infos]
        copies = Counter(_folded(name or "") for _, name in named)
        for info, name in named:
            if name is None:
                reason = "its name is too long, or in an unknown encoding"
                self.leave_out(info.filename, reason)
            elif NOISE.search(name):
                continue
            elif reason := _objection(info, name):
                self.leave_out(name or info.filename, reason)
            elif copies[_folded(name)] > 1:
                self.leave_out(name, "there are several of this name")
            else:
                yield Member(name, info.file_size, _time(info), info)


def _name(info: zipfile.ZipInfo) -> str | None:
    """Return a member's name; None if its encoding is unknown, or it is too long.

    Many tools write UTF-8 without the flag for it, which zipfile takes for cp437.
    """
    name = info.orig_filename
    if len(name) > _LONGEST_NAME:  # to normalise it takes quadratic time
        return None
    if info.flag_bits & _UTF8 or name.isascii():
        return plain(name)
    try:
        return plain(name.encode("cp437").decode())
    except UnicodeError:
        return None


def plain(name: str) -> str:
    """Normalise a name: letters in NFC, plain blanks, and no invisible characters.

    Names that look alike could otherwise differ.
    """
    kinds = {c: unicodedata.category(c) for c in set(name)}
    visible = "".join(" " if kinds[c] == "Zs" else c for c in name if kinds[c] != "Cf")
    return unicodedata.normalize("NFC", visible)


def _objection(info: zipfile.ZipInfo, name: str) -> str:
    """Return the reason why no LMS would write a file of this kind; "" if one might."""
    if not name.isprintable():
        return "its name is not plain text"
    parts = name.split("/")
    if "\\" in name or re.match(r"[A-Za-z]:", name) or name.startswith("/"):
        return "its path is absolute or one of Windows"
    if any(part in ("", ".", "..") for part in parts) or len(parts) > 12:
        return "its path leads elsewhere"
    # 0: the archive does not say, as when it was made on Windows.
    if stat.S_IFMT(info.external_attr >> 16) not in (0, stat.S_IFREG):
        return "it is a link or a device"
    return "it is encrypted" if info.flag_bits & _ENCRYPTED else ""


def _folded(name: str) -> str:
    """Fold a name, so that names which a file system may confuse become equal."""
    return unicodedata.normalize("NFKC", name).casefold()


def _time(info: zipfile.ZipInfo) -> datetime.datetime | None:
    """A member's time; None if it is invalid, or the default of 1980."""
    try:
        time = datetime.datetime(*info.date_time)
    except ValueError:
        return None
    return time if time.year > 1980 else None
