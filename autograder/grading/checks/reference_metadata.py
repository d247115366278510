"""Read what is known about a unit's exercises, except tensors: titles, points etc.

This module imports neither PyTorch nor NumPy, which only grading needs.
"""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import Any

from autograder.course.errors import CourseError
from autograder.root import CONTENT

_PUBLIC = CONTENT / "references" / "public"
_CONTENTS = _PUBLIC.with_name("contents")


def entries(unit: str) -> dict[str, dict[str, Any]]:
    """Map each exercise of a unit ("unit/name") to what the last build stored about it.

    That is its title, points, cases and so on. An unknown unit gives {}.
    """
    exercises = _load(_PUBLIC / f"{unit}.json", "exercises") or []
    return {entry["name"]: entry for entry in exercises}


def _load(path: Path, key: str) -> Any:
    """Load a file's JSON, and return what it has under a key; None without the file."""
    return _parse(path, path.stat().st_mtime_ns)[key] if path.is_file() else None


@functools.lru_cache
def _parse(path: Path, _changed: int) -> Any:
    """Parse a JSON file; the result is cached until the file changes."""
    return json.loads(path.read_text(encoding="utf-8"))


def refuse_damaged(unit: str) -> None:
    """Check that a unit's references are complete before a class is graded.

    Raises:
        CourseError: they are not; the text says how to rebuild them.
    """
    path = _PUBLIC / f"{unit}.safetensors"
    # An assignment that is not a unit has no references.
    if not path.is_file():
        return
    try:
        entries(unit)
        data = path.read_bytes()
        # The file has the header's length in 8 bytes, the header and the tensors.
        start = 8 + int.from_bytes(data[:8], "little")
        header = json.loads(data[8:start])
        tensors = [tensor for name, tensor in header.items() if name != "__metadata__"]
        end = max(tensor["data_offsets"][1] for tensor in tensors)
        is_whole = len(data) == start + end
    except (OSError, ValueError, LookupError, TypeError):
        is_whole = False
    if not is_whole:
        raise CourseError(
            f"{path}, or json beside it, is damaged; rebuild both with "
            f"`make build UNIT={unit}`"
        )


def titles(unit: str) -> dict[str, str]:
    """Map each exercise of a unit to its title; {} for an unknown unit."""
    return {name: str(entry["title"]) for name, entry in entries(unit).items()}


def numbers(unit: str) -> dict[str, str]:
    """Map each exercise of a unit to its number, like "2.4"; {} for an unknown unit."""
    places = _load(_CONTENTS / f"{unit}.json", "places") or {}
    return {name: str(place["number"]) for name, place in places.items()}


def points(exercise: str) -> float | None:
    """Return an exercise's points in the last build; None for an unknown exercise."""
    entry = entries(exercise.split("/")[0]).get(exercise)
    return float(entry["points"]) if entry else None


def largest_share(exercise: str) -> float:
    """Return the largest share of its points that an exercise gives, with any bonus."""
    cases = entries(exercise.split("/")[0])[exercise]["cases"]
    shares = [float(share) for case in cases for _, share in case.get("scale", [])]
    return max(shares, default=1.0)


def is_measured(exercise: str) -> bool:
    """Return whether any case of an exercise is scored by a measure of quality."""
    cases = entries(exercise.split("/")[0])[exercise]["cases"]
    return any(case.get("measure") for case in cases)
