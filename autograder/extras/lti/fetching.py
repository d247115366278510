"""Download hand-ins from an LMS into a folder that ``autograder collect`` reads."""

from __future__ import annotations

import datetime
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from autograder.course import files
from autograder.course.errors import CourseError
from autograder.course.printable import printable
from autograder.extras.lti import web
from autograder.extras.lti.assignment import LmsMember
from autograder.grading import intake

METADATA = "fetched.json"
FOLDER = "hand_in_of_"  # prefix of the LMS's number of the student
_LONGEST_NAME = 200  # bytes: file systems take 255, and a number may be added
_PIECE = 1 << 16  # bytes


@dataclass(frozen=True)
class RemoteFile:
    """A file in the LMS: the name that a student gave it, and its size in bytes."""

    name: str
    url: str
    size: int


@dataclass(frozen=True)
class FetchedHandIn:
    """The latest attempt of a student; ``time`` has a time zone."""

    person: LmsMember
    time: datetime.datetime
    files: tuple[RemoteFile, ...]


class RemoteFiles(Protocol):
    """An assignment in an LMS from which hand-ins are fetched."""

    lms: str

    def read_hand_ins(self) -> Iterator[FetchedHandIn]:
        """The latest attempt of each student who has handed in."""

    def open_file(self, file: RemoteFile) -> Any:
        """Start to download a file; returns a response whose body is not read yet."""


def fetch(source: RemoteFiles, folder: Path) -> list[str]:
    """Download all hand-ins into a folder.

    Each student's files go to a subfolder named after the LMS's number of the
    student. ``fetched.json`` maps these numbers to names, emails and times of
    hand-ins.

    Returns:
        A line for each file that was left out and each hand-in without a file.

    Raises:
        CourseError: the LMS cannot be reached, or sends only a part of a file.
    """
    people, remarks = {}, []
    for hand_in in source.read_hand_ins():
        person, name = hand_in.person, printable(hand_in.person.name)
        if not hand_in.files:
            remarks.append(f"{name or person.key}: handed in without a file")
            continue
        time = hand_in.time.astimezone(datetime.UTC).isoformat()
        people[person.key] = {"name": person.name, "email": person.email, "time": time}
        # A number, so that the LMS cannot choose a different folder.
        target = folder / f"{FOLDER}{int(person.key)}"
        target.mkdir()
        for file in hand_in.files:
            path = _unused_path(target, file.name)
            if fault := _download(source, file, path):
                remarks.append(f"{name or person.key}: {path.name} left out: {fault}")
    files.write(folder / METADATA, json.dumps(people, indent=1))
    return remarks


def _unused_path(folder: Path, name: str) -> Path:
    """A safe path for a file that a student named; repeated names get a number."""
    plain = printable(name).replace("/", "_").replace("\\", "_")
    # The end is kept, as it has the suffix.
    plain = plain.encode()[-_LONGEST_NAME:].decode(errors="ignore")
    plain = plain.lstrip(".") or "file"
    path, number = folder / plain, 1
    while path.exists():
        number += 1
        path = folder / f"{number}_{plain}"
    return path


def _download(source: RemoteFiles, file: RemoteFile, path: Path) -> str:
    """Download a file; returns the reason if it was left out, else ""."""
    most = intake.DEFAULTS.saved
    too_large = f"larger than {most >> 20} MB"
    if file.size > most:
        return too_large
    with web.network(source.lms), source.open_file(file) as response:
        if response.status_code != 200:
            return f"{source.lms} answers {response.status_code}"
        count = 0
        with open(path, "wb") as target:
            for piece in response.iter_content(_PIECE):
                count += len(piece)
                if count > most:
                    path.unlink()
                    return too_large
                target.write(piece)
    if count != file.size:
        raise CourseError(
            f"{source.lms} sent {count} of {file.size} bytes of a file; run the same "
            "command again"
        )
    return ""
