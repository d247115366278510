"""The file names in Blackboard's archives."""

from __future__ import annotations

import datetime
import re
from collections.abc import Collection

from autograder.classroom.lms.archive import NotPlacedError
from autograder.classroom.lms.layouts import Layout, ToUtc


def _time(text: str, utc: ToUtc) -> datetime.datetime | None:
    """Convert a time like "2026-11-20-14-03-59" to UTC; None if it is invalid."""
    try:
        return utc(datetime.datetime.strptime(text, "%Y-%m-%d-%H-%M-%S"))
    except ValueError:
        return None


def _prefix(heads: Collection[str], usernames: Collection[str]) -> str:
    """Find the prefix "ASSIGNMENT_" that all ``heads``, "ASSIGNMENT_USERNAME", share.

    If there are several, the roster's ``usernames`` decide.

    Raises:
        NotPlacedError: there is no prefix, or several are equally likely.
    """
    first = min(heads)
    lengths = [n + 1 for n, letter in enumerate(first) if letter == "_"]
    possible = [
        first[:n] for n in lengths if all(h.startswith(first[:n]) for h in heads)
    ]
    if len(possible) > 1:
        hits = {p: sum(h.removeprefix(p) in usernames for h in heads) for p in possible}
        most = max(hits.values())
        possible = [p for p in possible if hits[p] == most] if most else []
    if len(possible) != 1:
        raise NotPlacedError(
            "its file names do not show where the assignment's name ends and the user "
            "name begins; give a roster with all user names"
        )
    return possible[0]


LAYOUTS = [
    Layout(
        "Blackboard",
        re.compile(
            r"(?P<head>[^/]+?)_attempt_(?P<when>\d{4}(?:-\d\d){5})_(?P<file>[^/]+)"
        ),
        has_usernames=True,
        ignored_pattern=re.compile(r".*_attempt_\d{4}(?:-\d\d){5}\.txt"),
        read_time=_time,
        find_prefix=_prefix,
    )
]
