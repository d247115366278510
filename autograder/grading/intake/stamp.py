"""Find out when a submission was handed in."""

from __future__ import annotations

import datetime
import os
import re
import zoneinfo
from pathlib import Path

from autograder.grading.intake.common import STAMP, RefusedError, Repair
from autograder.grading.intake.files import read_file

_STAMP = re.compile(
    r"(\d{4}-\d\d-\d\d[ T]\d\d:\d\d(?::\d\d(?:\.\d{1,6})?)?)"
    r"(?: ?(Z|[+-]\d\d:?\d\d|[A-Za-z]+(?:[/_-][A-Za-z]+)*))?"
)
_SKEW = datetime.timedelta(minutes=5)  # the clocks of two machines may differ by this


def handed_in(folder: Path) -> tuple[datetime.datetime | None, tuple[Repair, ...]]:
    """Find out when a submission was handed in.

    The time in ``timestamp.txt`` counts if it is plausible. Otherwise, the time of
    collection counts, which no student can choose.

    Returns:
        The time in UTC without zone, or None if there is no stamp; and repairs.
    """
    path = folder / STAMP
    try:
        text = read_file(path, 100).data.decode("ascii", "replace").strip()
        status = (folder.stat(), path.stat())
    except (RefusedError, OSError):
        # A stamp that cannot be read, such as a link, is not the same as none.
        if os.path.lexists(path):
            text, status = "", (folder.lstat(), path.lstat())
        else:
            return None, ()
    collected = in_utc(max(change.st_ctime for change in status))
    stamp = parse_stamp(text)
    if stamp and stamp.year >= 2000 and stamp <= collected:
        return stamp, ()
    if stamp and collected < stamp <= collected + _SKEW:
        return collected, ()
    wrong = "was unreadable"
    if stamp:
        wrong = f"lay {'after its collection' if stamp > collected else 'before 2000'}"
    message = f"The time of submission {wrong}; the time of collection counts."
    return collected, (Repair("time", message),)


def in_utc(seconds: float) -> datetime.datetime:
    """Convert a system time to UTC without a zone, as nbgrader stores all times."""
    return datetime.datetime.fromtimestamp(seconds, datetime.UTC).replace(tzinfo=None)


def parse_stamp(text: str) -> datetime.datetime | None:
    """Parse a time of nbgrader's or a person's, into UTC without zone; None if invalid.

    A time that names no zone is in UTC.
    """
    match = _STAMP.fullmatch(text)
    if not match:
        return None
    zone = match[2] or "UTC"
    try:
        if zone[0] in "+-" or zone in ("Z", "UTC"):
            offset = "+00:00" if zone in ("Z", "UTC") else zone
            time = datetime.datetime.fromisoformat(match[1] + offset)
        else:
            time = datetime.datetime.fromisoformat(match[1])
            time = time.replace(tzinfo=zoneinfo.ZoneInfo(zone))
        return time.astimezone(datetime.UTC).replace(tzinfo=None)
    except (ValueError, OverflowError, OSError, zoneinfo.ZoneInfoNotFoundError):
        return None
