"""Read students' recorded attempts, from their submissions or their own folders.

Students can change these records, so unreadable entries are only counted.
"""

from __future__ import annotations

import glob
import json
import pwd
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from autograder.checks import attempts
from autograder.checks.attempts import AttemptLog, RecordedAttempt
from autograder.checks.words import ATTEMPTS, ATTEMPTS_DATA
from autograder.grading.intake.common import DEFAULTS, RefusedError, UnreadableError
from autograder.grading.intake.files import open_file, read_file

_MOST = 10_000  # the largest number of attempts of one student


def handed_in(folder: Path) -> AttemptLog:
    """Read the attempts recorded in all notebooks of a submission's folder."""
    return _merge(
        attempts.parse_entries(entries[:_MOST])
        for path in sorted(folder.glob("*.ipynb"))
        for entries in _find_attempts(_notebook(path))
    )


def _notebook(path: Path) -> Any:
    """The JSON of a notebook; None if it cannot be read."""
    try:
        return json.loads(read_file(path, DEFAULTS.notebook).data)
    except (RefusedError, UnreadableError, ValueError, RecursionError):
        return None


def _find_attempts(notebook: Any) -> Iterator[list[object]]:
    """Yield the lists of attempts in a notebook's outputs."""
    for cell in _entries(notebook, "cells"):
        for output in _entries(cell, "outputs"):
            data = output.get("data") if isinstance(output, dict) else None
            if isinstance(data, dict) and ATTEMPTS_DATA in data:
                entries = data[ATTEMPTS_DATA]
                yield entries if isinstance(entries, list) else [entries]


def _entries(container: Any, name: str) -> list[Any]:
    """The list under a key, or [] if this is not a dict with such a list."""
    entries = container.get(name) if isinstance(container, dict) else None
    return entries if isinstance(entries, list) else []


def live(pattern: str) -> dict[str, AttemptLog]:
    """Map each account to the attempts in its own files on this machine.

    Args:
        pattern: matches the folders, like "/home/*/02_attention".
    """
    logs: dict[str, list[AttemptLog]] = defaultdict(list)
    for folder in sorted(glob.glob(pattern)):
        try:
            with open_file(Path(folder) / ATTEMPTS) as (file, status):
                # The owner shows who wrote the file; its folder may be anybody's.
                owner = pwd.getpwuid(status.st_uid).pw_name
                logs[owner].append(attempts.parse(file.read(attempts.LARGEST)))
        except (RefusedError, UnreadableError, KeyError):
            continue
    return {owner: _merge(parts) for owner, parts in logs.items()}


def _merge(logs: Iterable[AttemptLog]) -> AttemptLog:
    """Merge several records of a student: each attempt once, in chronological order.

    Only the first `_MOST` attempts are kept.
    """
    unique, unreadable = set[RecordedAttempt](), 0
    for log in logs:
        unique.update(log.attempts)
        unreadable += log.unreadable
    ordered = sorted(unique, key=lambda attempt: (attempt.moment, attempt.exercise))
    return AttemptLog(tuple(ordered[:_MOST]), unreadable)
