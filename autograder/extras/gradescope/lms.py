"""The file names in Gradescope's archives, and the metadata on who submitted them."""

from __future__ import annotations

import datetime
import re
from collections.abc import Collection, Iterator

import yaml

from autograder.classroom.lms.archive import NotPlacedError, Source
from autograder.classroom.lms.layouts import Layout, Submitted, Submitter
from autograder.course.printable import printable
from autograder.grading.intake import parse_stamp

_METADATA = "submission_metadata.yml"
_LARGEST_METADATA = 64 << 20


class _Loader(yaml.SafeLoader):
    """A YAML loader that creates no objects: values tagged as objects become None."""


_Loader.add_multi_constructor("", lambda loader, suffix, node: None)


def _submitters(archive: Source, handed_in: Collection[str]) -> dict[str, Submitted]:
    """Map each submission's number to its submitters and the time of the hand-in.

    They are in the archive's metadata file, which is none of the students' files.

    Raises:
        NotPlacedError: there is not exactly one metadata file, or it is damaged.
    """
    files = [
        member for member in archive.members
        if member.name.rpartition("/")[2] == _METADATA
        and member.name.count("/") <= 1 and member.name not in handed_in
    ]  # fmt: skip
    if len(files) != 1:
        raise NotPlacedError(
            f"it has no {_METADATA}, which says whose the submissions are"
        )
    text = archive.read(files[0], _LARGEST_METADATA)
    try:
        entries = yaml.load(text, Loader=_Loader)
    except (yaml.YAMLError, ValueError, RecursionError):
        raise NotPlacedError(f"its {_METADATA} cannot be read") from None
    if not isinstance(entries, dict):
        raise NotPlacedError(f"its {_METADATA} cannot be read")
    return {
        str(name).removeprefix("submission_"): (
            tuple(_people(entry.get(":submitters"))),
            _stamp(entry.get(":created_at")),
        )
        for name, entry in entries.items()
        if isinstance(entry, dict)
    }


def _people(value: object) -> Iterator[Submitter]:
    """Yield the people in an entry's list of submitters, skipping what is malformed."""
    for entry in value if isinstance(value, list) else []:
        if isinstance(entry, dict):
            fields = (
                str(entry.get(k) or "")[:200] for k in (":sid", ":name", ":email")
            )
            yield Submitter(*map(printable, fields))


def _stamp(value: object) -> datetime.datetime | None:
    """Convert a time in the metadata to UTC without zone; None if it is no time."""
    if isinstance(value, datetime.datetime):
        if value.tzinfo:
            value = value.astimezone(datetime.UTC).replace(tzinfo=None)
        return value.replace(microsecond=0)
    return parse_stamp(value.strip()) if isinstance(value, str) else None


LAYOUTS = [
    Layout(
        "Gradescope",
        re.compile(r"(?:[^/]+/)?submission_(?P<key>\d+)/(?P<file>.+)"),
        ignored_pattern=re.compile(rf"(?:.*/)?{re.escape(_METADATA)}"),
        read_submitters=_submitters,
    )
]
