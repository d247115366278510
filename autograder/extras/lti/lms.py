"""The file names and metadata in an archive of hand-ins that `fetching` downloaded."""

from __future__ import annotations

import datetime
import json
import re
from collections.abc import Collection

from autograder.classroom.lms.archive import NotPlacedError, Source
from autograder.classroom.lms.layouts import Layout, Submitted, Submitter
from autograder.course.printable import printable
from autograder.extras.lti.fetching import FOLDER, METADATA

_LARGEST = 16 << 20  # bytes of the metadata


def _submitters(archive: Source, handed_in: Collection[str]) -> dict[str, Submitted]:
    """Map the LMS's number of each student to the student and the time of the hand-in.

    Raises:
        NotPlacedError: the archive's file of metadata is missing or damaged.
    """
    files = [member for member in archive.members if member.name == METADATA]
    if len(files) != 1:
        raise NotPlacedError(f"it has no {METADATA}, which says whose the files are")
    text = archive.read(files[0], _LARGEST)
    try:
        return {
            key: (
                (Submitter(key, *(printable(person[k]) for k in ("name", "email"))),),
                _utc(person["time"]),
            )
            for key, person in json.loads(text).items()
        }
    except (ValueError, TypeError, LookupError, AttributeError, OverflowError,
            RecursionError):  # fmt: skip
        raise NotPlacedError(f"its {METADATA} cannot be read") from None


def _utc(text: str) -> datetime.datetime:
    time = datetime.datetime.fromisoformat(text).astimezone(datetime.UTC)
    return time.replace(tzinfo=None, microsecond=0)


LAYOUTS = [
    Layout(
        "Fetched",
        re.compile(rf"{FOLDER}(?P<key>\d+)/(?P<file>.+)"),
        ignored_pattern=re.compile(re.escape(METADATA)),
        read_submitters=_submitters,
    )
]
