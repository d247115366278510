"""The file names in Brightspace's archives."""

from __future__ import annotations

import datetime
import re

from autograder.classroom.lms.layouts import Layout, ToUtc


def _time(text: str, utc: ToUtc) -> datetime.datetime | None:
    """Convert a time like "Nov 20, 2026 203 PM" to UTC; None if it is invalid."""
    padded = re.sub(r" (\d{3}) ", r" 0\1 ", text)
    for pattern in ("%b %d, %Y %I%M %p", "%B %d, %Y %I%M %p"):
        try:
            return utc(datetime.datetime.strptime(padded, pattern))
        except ValueError:
            continue
    return None


LAYOUTS = [
    Layout(
        "Brightspace",
        re.compile(
            r"(?P<key>\d+)-\d+ - (?P<name>[^/]+?) - "
            r"(?P<when>[A-Z][a-z]+ \d{1,2}, \d{4} \d{3,4} [AP]M)(?: - |/)(?P<file>.+)"
        ),
        read_time=_time,
    )
]
