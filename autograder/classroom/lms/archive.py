"""Reading a zip that anybody may have made: bounded, and nothing is ever unpacked.

A fault of the archive as a whole raises ``NotPlaced``; a member that is not what an LMS
writes is left out with a reason, and the others are read.
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

# Of a whole class, in which some hand in thousands of files. What a member holds is
# bounded where it is read.
MOST_MEMBERS = 500_000
_SHOWN = 200  # letters of a name that is left out
_UTF8 = 0x800  # flag: the name is in UTF-8
_ENCRYPTED = 0x1
NOISE = re.compile(r"(^|/)(__MACOSX/|\.DS_Store$|Thumbs\.db$|\.ipynb_checkpoints/)")
_FAULTS = (zipfile.BadZipFile, zlib.error, EOFError, OSError, NotImplementedError,
           ValueError, LookupError, RuntimeError, struct.error)  # fmt: skip


class NotPlacedError(Exception):
    """An archive or a member cannot be used; the text says why."""


@dataclass(frozen=True)
class Member:
    """A regular file of an archive or of a folder.

    ``time`` is what the archive says, without zone; None if it says nothing. ``place``
    is where whoever made it finds it again.
    """

    name: str
    size: int
    time: datetime.datetime | None
    place: Any


class Source:
    """Members that can be read, and those that were left out with a reason."""

    def __init__(self, path: Path):
        self.path = path
        self.members: list[Member] = []
        self.left_out: list[tuple[str, str]] = []

    def leave_out(self, name: str, reason: str) -> None:
        self.left_out.append((printable(name)[:_SHOWN], reason))

    def open_member(self, member: Member) -> AbstractContextManager[IO[bytes]]:
        """Open a member, to be read in pieces.

        Raises:
            NotPlacedError: it cannot be read, also when that is met on the way.
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
    """A zip file.

    Args:
        file: its bytes, where it is no file of its own.

    Raises:
        NotPlacedError: it is no zip, too large, or made to deceive.
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
            raise NotPlacedError(
                "it is not a readable zip; download it again"
            ) from None
        self._check_whole()
        self.members = list(self._members())

    def __enter__(self) -> Archive:
        return self

    def __exit__(self, *_: object) -> None:
        self._zip.close()

    @contextmanager
    def open_member(self, member: Member) -> Iterator[IO[bytes]]:
        try:
            with self._zip.open(member.place) as file:
                yield file
        except RefusedError:  # whoever reads has had enough
            raise
        except Exception:  # each way to pack has errors of its own
            raise NotPlacedError(
                "damaged, or compressed by an unknown method"
            ) from None

    def _check_whole(self) -> None:
        infos = self._zip.infolist()
        if len(infos) > MOST_MEMBERS:
            raise NotPlacedError(f"it has more than {MOST_MEMBERS} members")
        end = 0  # members that share bytes are how small archives become huge ones
        for info in sorted(infos, key=lambda info: info.header_offset):
            if info.header_offset < end:
                raise NotPlacedError(
                    "its members overlap, as only in a manipulated archive"
                )
            end = info.header_offset + 30 + info.compress_size

    def _members(self) -> Iterator[Member]:
        # `is_dir` of Python 3.11 fails on an empty name, which hostile archives have.
        infos = [i for i in self._zip.infolist() if not i.filename.endswith("/")]
        named = [(info, _name(info)) for info in infos]
        copies = Counter(_folded(name or "") for _, name in named)
        for info, name in named:
            if name is None:
                self.leave_out(info.filename, "its name is in an unknown encoding")
            elif NOISE.search(name):
                continue
            elif reason := _objection(info, name):
                self.leave_out(name or info.filename, reason)
            elif copies[_folded(name)] > 1:
                self.leave_out(name, "there are several of this name")
            else:
                yield Member(name, info.file_size, _time(info), info)


def _name(info: zipfile.ZipInfo) -> str | None:
    """A member's name, None if nobody can tell its encoding.

    Without the flag for UTF-8 it should be cp437, which zipfile assumes; in fact many
    tools write UTF-8 without it.
    """
    name = info.orig_filename
    if info.flag_bits & _UTF8 or name.isascii():
        return plain(name)
    try:
        return plain(name.encode("cp437").decode())
    except UnicodeError:
        return None


def plain(name: str) -> str:
    """A name with each letter in one form, with plain blanks, and nothing invisible.

    Persian names are written with joiners, macOS puts narrow blanks into a screenshot's
    time, and a browser a mark before what is written from the right.
    """
    kinds = {c: unicodedata.category(c) for c in set(name)}
    visible = "".join(" " if kinds[c] == "Zs" else c for c in name if kinds[c] != "Cf")
    return unicodedata.normalize("NFC", visible)


def _objection(info: zipfile.ZipInfo, name: str) -> str:
    """The reason why no LMS writes such a member, "" if one may."""
    if not name.isprintable() or len(name) > 1000:
        return "its name is not plain text"
    parts = name.split("/")
    if "\\" in name or re.match(r"[A-Za-z]:", name) or name.startswith("/"):
        return "its path is absolute or one of Windows"
    if any(part in ("", ".", "..") for part in parts) or len(parts) > 12:
        return "its path leads elsewhere"
    if stat.S_IFMT(info.external_attr >> 16) not in (0, stat.S_IFREG):
        return "it is a link or a device"
    return "it is encrypted" if info.flag_bits & _ENCRYPTED else ""


def _folded(name: str) -> str:
    """Names that some file system takes for the same have the same folded name."""
    return unicodedata.normalize("NFKC", name).casefold()


def _time(info: zipfile.ZipInfo) -> datetime.datetime | None:
    try:
        time = datetime.datetime(*info.date_time)
    except ValueError:
        return None
    return time if time.year > 1980 else None
