"""Records of attempts that students handed in, or keep in files of their own.

They come from students: what cannot be read, or is not a record, is left out.
"""

from __future__ import annotations

import glob
import itertools
import json
import os
import pwd
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from autograder.checks import attempts
from autograder.checks.attempts import RecordedAttempt as RecordedAttempt
from autograder.checks.words import ATTEMPTS, ATTEMPTS_DATA

_LARGEST = 24 << 20  # bytes of a notebook: larger ones are read without outputs
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
        with open(path, "rb", opener=_plain) as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                return None
            text = file.read(_LARGEST + 1)
            return json.loads(text) if len(text) <= _LARGEST else None
    except (OSError, ValueError, RecursionError):
        return None


def _plain(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK)


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
            with open(Path(folder) / ATTEMPTS, "rb", opener=_plain) as file:
                kept = os.fstat(file.fileno())
                owner = pwd.getpwuid(kept.st_uid).pw_name
                is_file = stat.S_ISREG(kept.st_mode)
                made = attempts.parse(file.read(attempts.LARGEST) if is_file else b"")
        except (OSError, KeyError):
            continue
        if made:
            found[owner] = _in_order({*found.get(owner, ()), *made})
    return found


def _in_order(found: set[RecordedAttempt]) -> list[RecordedAttempt]:
    return sorted(found, key=lambda one: (one.moment, one.exercise))[:_MOST]
