"""Whose file is it? How Canvas, Moodle, Gradescope, Blackboard and Brightspace tell.

Each layout is a pattern for the names in an archive. What the LMS writes comes first in
a name and what a student chose comes last, so patterns are anchored at the start and
take the first match: no file name can speak for somebody else. An archive has one
layout, that of most of its files.
"""

from __future__ import annotations

import datetime
import re
import zoneinfo
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field

import yaml

from autograder.classroom.lms.archive import Member, NotPlacedError, Source
from autograder.course.errors import UsageError
from autograder.course.printable import printable
from autograder.grading.intake import parse_stamp

_METADATA = "submission_metadata.yml"
_LARGEST_METADATA = 64 << 20
ToUtc = Callable[[datetime.datetime], datetime.datetime]


@dataclass(frozen=True)
class Submitter:
    """A student as an LMS sees them: ``key`` is its number or user name, or "".

    ``rival`` is the key by another reading of a name in the archive, "" if there is
    none: somebody who is called "x_12345" may want to be taken for 12345.
    ``grouped``: the name may have that of a group and "-" in front.
    """

    key: str
    name: str = ""
    email: str = ""
    rival: str = field(default="", compare=False)
    grouped: bool = field(default=False, compare=False, kw_only=True)

    @property
    def shown(self) -> str:
        """All that the LMS says of them, for people."""
        key = f"({self.key})" if self.key else ""
        return " ".join(filter(None, (self.name, self.email, key)))


@dataclass
class Attempt:
    """What people handed in together: files by relative path.

    Attributes:
        when: the time of handing in, UTC without zone; None if the LMS does not say.
        late: whether the LMS calls it late.
        blind: the LMS hides who it is.
    """

    people: tuple[Submitter, ...]
    files: dict[str, Member] = field(default_factory=dict)
    when: datetime.datetime | None = None
    late: bool = False
    blind: bool = False


@dataclass(frozen=True)
class Layout:
    """How an LMS names the files in its archives.

    ``lasting``: its keys mean the same person in every assignment.
    """

    lms: str
    pattern: re.Pattern[str]
    lasting: bool = True


_LAYOUTS = (
    Layout("Canvas", re.compile(
        r"(?:(?P<blind>anon)_(?:(?P<late1>LATE)_)?(?P<anonymous>[A-Za-z0-9]{5})"
        r"|(?P<name>[^/]*?)_(?:(?P<late>LATE)_)?(?P<key>\d+))"
        r"_(?P<order>\d+)_(?P<file>[^/]+)"
    )),
    Layout("Moodle", re.compile(
        r"(?P<name>[^/]+?)_(?P<key>\d+)_assignsubmission_(?:file|onlinetext)"
        r"(?:_?/(?P<file>.+)|_(?P<flat>[^/]+))"
    ), lasting=False),
    Layout("Gradescope", re.compile(
        r"(?:[^/]+/)?submission_(?P<key>\d+)/(?P<file>.+)"
    )),
    Layout("Blackboard", re.compile(
        r"(?P<head>[^/]+?)_attempt_(?P<when>\d{4}(?:-\d\d){5})_(?P<file>[^/]+)"
    )),
    Layout("Brightspace", re.compile(
        r"(?P<key>\d+)-\d+ - (?P<name>[^/]+?) - "
        r"(?P<when>[A-Z][a-z]+ \d{1,2}, \d{4} \d{3,4} [AP]M)(?: - |/)(?P<file>.+)"
    )),
)  # fmt: skip
NAMES = tuple(layout.lms.lower() for layout in _LAYOUTS)
_GROUPS = {group for layout in _LAYOUTS for group in layout.pattern.groupindex}
_HIDDEN = re.compile(r"(?:^|-)Participant$")  # Moodle's, perhaps behind a group's name
_BESIDE = re.compile(  # what LMSs add on their own, and nobody misses
    r"(?:.*/)?submission_metadata\.yml|index\.html"
    r"|.*_attempt_\d{4}(?:-\d\d){5}\.txt"
)


def to_utc(zone: str = "") -> ToUtc:
    """From the local time of a zone, by default this computer's, to UTC.

    Raises:
        UsageError: there is no such zone.
    """
    try:
        there = zoneinfo.ZoneInfo(zone) if zone else None
    except (zoneinfo.ZoneInfoNotFoundError, ValueError):
        raise UsageError(
            f'there is no time zone "{zone}"; write one like "Europe/Berlin"'
        ) from None

    def convert(local: datetime.datetime) -> datetime.datetime:
        aware = local.replace(tzinfo=there) if there else local.astimezone()
        return aware.astimezone(datetime.UTC).replace(tzinfo=None)

    return convert


def is_known(name: str) -> bool:
    """Whether an LMS names a submitted file like this."""
    return any(layout.pattern.fullmatch(name) for layout in _LAYOUTS)


def detect(archive: Source, lms: str = "") -> Layout:
    """The layout of an archive: the one given, or that of most of its files.

    Raises:
        NotPlacedError: it has none that is known, or two equally well.
    """
    if lms:
        return next(layout for layout in _LAYOUTS if layout.lms.lower() == lms)
    counts = {
        layout.lms: sum(bool(layout.pattern.fullmatch(m.name)) for m in archive.members)
        for layout in _LAYOUTS
    }
    most = max(counts.values())
    best = [layout for layout in _LAYOUTS if counts[layout.lms] == most]
    if not most:
        raise NotPlacedError(f"its file names match none of {', '.join(counts)}")
    if len(best) > 1:
        listed = " or ".join(layout.lms for layout in best)
        raise NotPlacedError(f"it may come from {listed}; choose one with --lms")
    return best[0]


def attempts(
    archive: Source, layout: Layout, utc: ToUtc, known: Collection[str] = ()
) -> tuple[list[Attempt], list[tuple[str, str]]]:
    """What is in an archive by attempt, and the files that belong to none.

    Args:
        utc: from the LMS's local time, without zone, to UTC without zone.
        known: user names of the roster, to read Blackboard's names with.

    Raises:
        NotPlacedError: the archive's names, or its metadata, are ambiguous.
    """
    matches = [(m, layout.pattern.fullmatch(m.name)) for m in archive.members]
    strays = [
        (member.name, f"its name is not one that {layout.lms} gives")
        for member, match in matches
        if not match and not _BESIDE.fullmatch(member.name)
    ]
    matched = [(member, _parts(match)) for member, match in matches if match]
    if not matched:
        raise NotPlacedError(f"none of its file names looks like {layout.lms}'s")
    # Earlier uploads first: Canvas numbers them.
    matched.sort(key=lambda pair: (int(pair[1]["order"] or 0), pair[0].name))
    names = {parts["name"] for _, parts in matched}
    heads = {parts["head"] for _, parts in matched}
    prefix = _prefix(heads, known) if layout.lms == "Blackboard" else ""
    if layout.lms == "Gradescope":
        people = _submitters(archive, {member.name for member, _ in matched})
    # Moodle writes groups before all names or none: else "x-Ada Lovelace" would be Ada.
    grouped = layout.lms == "Moodle" and len(names) > 1 and all("-" in n for n in names)
    found: dict[tuple[object, ...], Attempt] = {}
    for member, parts in matched:
        key = parts["key"] or parts["anonymous"] or parts["head"].removeprefix(prefix)
        name, when = parts["name"], _when(parts["when"], utc)
        # Canvas's number for the file, where it could be one for a person, too.
        rival = parts["order"] if re.match(r"\d+_", parts["file"]) else ""
        who: tuple[Submitter, ...] = (
            Submitter(key, name, rival=rival, grouped=grouped),
        )
        if layout.lms == "Gradescope":
            who, when = people.get(key, ((), None))
        blind = bool(parts["blind"] or _HIDDEN.search(name))
        new = Attempt(who, {}, when, blind=blind)
        attempt = found.setdefault((who, when, key), new)
        attempt.late |= bool(parts["late"] or parts["late1"])
        path = parts["file"] or parts["flat"]
        attempt.files[_unused(path, attempt.files)] = member
    return list(found.values()), strays


def _parts(match: re.Match[str]) -> dict[str, str]:
    """The values of all layouts' groups in a matched name; "" if one is absent."""
    parts = dict.fromkeys(_GROUPS, "") | match.groupdict("")
    return parts | {"name": parts["name"].strip()}


def _unused(path: str, taken: Collection[str]) -> str:
    """The path, with a number before its name if it is taken."""
    folder, _, name = path.rpartition("/")
    number = 1
    while path in taken:
        number += 1
        path = f"{folder}/{number}_{name}".lstrip("/")
    return path


def _when(text: str, utc: ToUtc) -> datetime.datetime | None:
    """Blackboard's "2026-11-20-14-03-59" and Brightspace's "Nov 20, 2026 203 PM"."""
    if not text:
        return None
    for pattern in ("%Y-%m-%d-%H-%M-%S", "%b %d, %Y %I%M %p", "%B %d, %Y %I%M %p"):
        padded = re.sub(r" (\d{3}) ", r" 0\1 ", text)
        try:
            return utc(datetime.datetime.strptime(padded, pattern))
        except ValueError:
            continue
    return None


def _prefix(heads: Collection[str], known: Collection[str]) -> str:
    """What stands before the user names: the assignment's name and a "_".

    Both may hold "_", so several places are possible; the roster decides.
    """
    first = min(heads)
    ends = [n + 1 for n, letter in enumerate(first) if letter == "_"]
    possible = [first[:n] for n in ends if all(h.startswith(first[:n]) for h in heads)]
    if len(possible) > 1:
        hits = {p: sum(h.removeprefix(p) in known for h in heads) for p in possible}
        most = max(hits.values())
        possible = [p for p in possible if hits[p] == most] if most else []
    if len(possible) != 1:
        raise NotPlacedError(
            "its file names do not show where the assignment's name ends and the user "
            "name begins; give a roster with all user names"
        )
    return possible[0]


class _Loader(yaml.SafeLoader):
    """YAML without any object: what is tagged as one becomes None."""


_Loader.add_multi_constructor("", lambda loader, suffix, node: None)


Submitted = tuple[tuple[Submitter, ...], datetime.datetime | None]


def _submitters(archive: Source, handed_in: Collection[str]) -> dict[str, Submitted]:
    """Who handed in each submission, and when, by its number."""
    files = [m for m in archive.members if m.name.rpartition("/")[2] == _METADATA]
    files = [m for m in files if m.name.count("/") <= 1 and m.name not in handed_in]
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
    for entry in value if isinstance(value, list) else []:
        if isinstance(entry, dict):
            told = (str(entry.get(k) or "")[:200] for k in (":sid", ":name", ":email"))
            yield Submitter(*map(printable, told))


def _stamp(value: object) -> datetime.datetime | None:
    if isinstance(value, datetime.datetime):
        if value.tzinfo:
            value = value.astimezone(datetime.UTC).replace(tzinfo=None)
        return value.replace(microsecond=0)
    return parse_stamp(value.strip()) if isinstance(value, str) else None
