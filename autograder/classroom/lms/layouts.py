"""Find out from a file's name in an LMS's archive which student handed it in.

A layout describes the names that an LMS writes; extras add further layouts. The
end of a name is chosen by the student, so patterns are anchored at the start:
no student can choose a file name that passes for another student's.
"""

from __future__ import annotations

import datetime
import functools
import re
import zoneinfo
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field

from autograder import seams
from autograder.classroom.lms.archive import Member, NotPlacedError, Source
from autograder.course.errors import UsageError

ToUtc = Callable[[datetime.datetime], datetime.datetime]


@dataclass(frozen=True)
class Submitter:
    """A student as an LMS sees them.

    Attributes:
        key: the student's number or user name in the LMS, or "".
        rival: a second possible key, if the file's name can be read in two ways.
        grouped: whether the name of a group and "-" may precede ``name``.
    """

    key: str
    name: str = ""
    email: str = ""
    rival: str = field(default="", compare=False)
    grouped: bool = field(default=False, compare=False, kw_only=True)

    @property
    def label(self) -> str:
        """All that the LMS says about the person, for messages."""
        key = f"({self.key})" if self.key else ""
        return " ".join(filter(None, (self.name, self.email, key)))


@dataclass
class Attempt:
    """What one or more people handed in together: files by relative path.

    Attributes:
        time: when it was handed in, naive in UTC; None if the LMS does not say.
        late: whether the LMS calls it late.
        blind: whether the LMS hides the person's identity.
    """

    people: tuple[Submitter, ...]
    files: dict[str, Member] = field(default_factory=dict)
    time: datetime.datetime | None = None
    late: bool = False
    blind: bool = False


Submitted = tuple[tuple[Submitter, ...], datetime.datetime | None]


@dataclass(frozen=True)
class Layout:
    """How an LMS names the files in its archives, and what else its archives say.

    A *key* is the number or user name by which the LMS refers to a student.

    Attributes:
        pattern: matches the name of a file that a student handed in. Its named
            groups are parts of that name, such as "key", "name", "when" or "file".
        has_lasting_keys: whether keys identify the same person in every assignment.
        has_usernames: whether keys may be user names.
        ignored_pattern: matches files that the LMS adds itself.
        read_time: converts the text of the group "when" to UTC (naive).
        find_prefix: given all texts of the group "head" and the roster's user
            names, finds the part before the key.
        read_submitters: reads from the archive's metadata, by key, who handed in
            and when, given the names of the files.
    """

    lms: str
    pattern: re.Pattern[str]
    has_lasting_keys: bool = True
    has_usernames: bool = False
    ignored_pattern: re.Pattern[str] | None = None
    read_time: Callable[[str, ToUtc], datetime.datetime | None] | None = None
    find_prefix: Callable[[Collection[str], Collection[str]], str] | None = None
    read_submitters: (
        Callable[[Source, Collection[str]], Mapping[str, Submitted]] | None
    ) = None


_CORE = (
    Layout("Canvas", re.compile(
        r"(?:(?P<blind>anon)_(?:(?P<late1>LATE)_)?(?P<anonymous>[A-Za-z0-9]{5})"
        r"|(?P<name>[^/]*?)_(?:(?P<late>LATE)_)?(?P<key>\d+))"
        r"_(?P<order>\d+)_(?P<file>[^/]+)"
    )),
    Layout("Moodle", re.compile(
        r"(?P<name>[^/]+?)_(?P<key>\d+)_assignsubmission_(?:file|onlinetext)"
        r"(?:_?/(?P<file>.+)|_(?P<flat>[^/]+))"
    ), has_lasting_keys=False),
)  # fmt: skip
_GROUPS = (
    "anonymous", "blind", "file", "flat", "head", "key", "late", "late1", "name",
    "order", "when",
)  # fmt: skip
# Moodle's name for a person with a hidden identity, perhaps after a group's name.
_HIDDEN = re.compile(r"(?:^|-)Participant$")
_INDEX = "index.html"  # a file that LMSs add, and that is ignored


@functools.cache
def all_layouts() -> tuple[Layout, ...]:
    """The layouts of Canvas and Moodle, and of the LMSs that extras support."""
    extras = (module.LAYOUTS for module in seams.modules("lms"))
    return (*_CORE, *(layout for layouts in extras for layout in layouts))


def to_utc(zone: str = "") -> ToUtc:
    """Make a function that converts a zone's time, or else this computer's, to UTC.

    Its argument and its result are naive.

    Raises:
        UsageError: there is no such zone.
    """
    try:
        timezone = zoneinfo.ZoneInfo(zone) if zone else None
    except (zoneinfo.ZoneInfoNotFoundError, ValueError):
        raise UsageError(
            f'there is no time zone "{zone}"; write one like "Europe/Berlin"'
        ) from None

    def convert(local: datetime.datetime) -> datetime.datetime:
        aware = local.replace(tzinfo=timezone) if timezone else local.astimezone()
        return aware.astimezone(datetime.UTC).replace(tzinfo=None)

    return convert


def is_known(name: str) -> bool:
    """Whether a name has the form that some LMS gives to submitted files."""
    return any(layout.pattern.fullmatch(name) for layout in all_layouts())


def detect(archive: Source, lms: str = "") -> Layout:
    """Return the layout of an LMS (in lower case), or else the one that fits best.

    Raises:
        NotPlacedError: no known layout fits, or several fit equally well.
    """
    if lms:
        return next(layout for layout in all_layouts() if layout.lms.lower() == lms)
    counts = {
        layout.lms: sum(bool(layout.pattern.fullmatch(m.name)) for m in archive.members)
        for layout in all_layouts()
    }
    most = max(counts.values())
    best = [layout for layout in all_layouts() if counts[layout.lms] == most]
    if not most:
        raise NotPlacedError(f"its file names match none of {', '.join(counts)}")
    if len(best) > 1:
        listed = " or ".join(layout.lms for layout in best)
        raise NotPlacedError(f"it may come from {listed}; choose one with --lms")
    return best[0]


def attempts(
    archive: Source, layout: Layout, utc: ToUtc, usernames: Collection[str] = ()
) -> tuple[list[Attempt], list[tuple[str, str]]]:
    """Group the files of an archive into attempts.

    Returns:
        The attempts; and a name and a reason for each file that is not used.

    Raises:
        NotPlacedError: no file name fits, or it is unclear whose the files are.
    """
    matches = [(m, layout.pattern.fullmatch(m.name)) for m in archive.members]
    strays = [
        (member.name, f"its name is not one that {layout.lms} gives")
        for member, match in matches
        if not match
        and member.name != _INDEX
        and not (
            layout.ignored_pattern and layout.ignored_pattern.fullmatch(member.name)
        )
    ]
    matched = [(member, _parts(match)) for member, match in matches if match]
    if not matched:
        raise NotPlacedError(f"none of its file names looks like {layout.lms}'s")
    # Earlier uploads first: Canvas numbers them.
    matched.sort(key=lambda pair: (int(pair[1]["order"] or 0), pair[0].name))
    names = {parts["name"] for _, parts in matched}
    heads = {parts["head"] for _, parts in matched}
    prefix = layout.find_prefix(heads, usernames) if layout.find_prefix else ""
    people: Mapping[str, Submitted] | None = None
    if layout.read_submitters:
        people = layout.read_submitters(archive, {m.name for m, _ in matched})
    # Moodle writes groups before all names or before none. If this were not checked,
    # somebody called "x-Ada Lovelace" could pass for Ada.
    grouped = layout.lms == "Moodle" and len(names) > 1 and all("-" in n for n in names)
    by_key: dict[tuple[object, ...], Attempt] = {}
    for member, parts in matched:
        key = parts["key"] or parts["anonymous"] or parts["head"].removeprefix(prefix)
        name, time = parts["name"], None
        if layout.read_time and parts["when"]:
            time = layout.read_time(parts["when"], utc)
        # Canvas's number of the file, if it could also be the number of a person.
        rival = parts["order"] if re.match(r"\d+_", parts["file"]) else ""
        submitters: tuple[Submitter, ...]
        submitters = (Submitter(key, name, rival=rival, grouped=grouped),)
        if people is not None:
            submitters, time = people.get(key, ((), None))
        hidden = layout.lms == "Moodle" and _HIDDEN.search(name)
        blind = bool(parts["blind"] or hidden)
        new = Attempt(submitters, {}, time, blind=blind)
        attempt = by_key.setdefault((submitters, time, key), new)
        attempt.late |= bool(parts["late"] or parts["late1"])
        path = parts["file"] or parts["flat"]
        attempt.files[unused(path, attempt.files)] = member
    return list(by_key.values()), strays


def _parts(match: re.Match[str]) -> dict[str, str]:
    """Map each group that a layout's pattern may have to its text in a file's name.

    A group that the pattern lacks, or that matches nothing, has the text "".
    """
    parts = dict.fromkeys(_GROUPS, "") | match.groupdict("")
    return parts | {"name": parts["name"].strip()}


def unused(path: str, paths: Collection[str]) -> str:
    """Make a path unique by a number before the file's name, if it is already used."""
    folder, _, name = path.rpartition("/")
    number = 1
    while path in paths:
        number += 1
        path = f"{folder}/{number}_{name}".lstrip("/")
    return path
