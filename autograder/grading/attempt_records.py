"""Records of attempts that students handed in, or keep in files of their own.

They come from students: what cannot be read, or is not a record, is left out.
"""

from __future__ import annotations

import glob
import itertools
import json
import pwd
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from autograder.checks import attempts
from autograder.checks.attempts import RecordedAttempt as RecordedAttempt
from autograder.checks.words import ATTEMPTS, ATTEMPTS_DATA
from autograder.grading.intake.common import DEFAULTS, RefusedError, UnreadableError
from autograder.grading.intake.files import opened, read_file

_MOST = 10_000  # attempts of a student


def handed_in(folder: Path) -> list[RecordedAttempt]:
    """The attempts in the notebooks of a submission's folder."""
    found: set[RecordedAttempt] = set()
    for path in sorted(folder.glob("*.ipynb")):
        for told in _told(_notebook(path)):
            found |= set(itertools.islice(attempts.known(told), _MOST))
    return _in_order(found)


def _notebook(path: Path) -> Any:
    try:
        return json.loads(read_file(path, DEFAULTS.notebook).data)
    except (RefusedError, UnreadableError, ValueError, RecursionError):
        return None


def _told(notebook: Any) -> Iterator[object]:
    """What the notebook's outputs call attempts."""
    for cell in _entries(notebook, "cells"):
        for output in _entries(cell, "outputs"):
            data = output.get("data") if isinstance(output, dict) else None
            if isinstance(data, dict) and ATTEMPTS_DATA in data:
                yield data[ATTEMPTS_DATA]


def _entries(holder: Any, name: str) -> list[Any]:
    found = holder.get(name) if isinstance(holder, dict) else None
    return found if isinstance(found, list) else []


def live(pattern: str) -> dict[str, list[RecordedAttempt]]:
    """The attempts in students' own files on this machine, by account.

    Args:
        pattern: of the folders, like "/home/*/02_attention". A file counts for the
            account that owns it.
    """
    found: dict[str, list[RecordedAttempt]] = {}
    for folder in sorted(glob.glob(pattern)):
        try:
            with opened(Path(folder) / ATTEMPTS) as (file, status):
                owner = pwd.getpwuid(status.st_uid).pw_name
                made = attempts.parse(file.read(attempts.LARGEST))
        except (RefusedError, UnreadableError, KeyError):
            continue
        if made:
            found[owner] = _in_order({*found.get(owner, ()), *made})
    return found


def _in_order(found: set[RecordedAttempt]) -> list[RecordedAttempt]:
    return sorted(found, key=lambda one: (one.moment, one.exercise))[:_MOST]
