"""Store what a student has solved so far in one small file beside the notebook.

The file is for display: it earns no points, and grading does not write it.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path

from autograder.checks.frontend import is_attended
from autograder.checks.language import _
from autograder.checks.words import PROGRESS

_FORMAT = 1
_LARGEST = 1_000_000  # bytes: ten times what the course itself would write
_UNREADABLE = (
    OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError,
)  # fmt: skip
_MOST = 10.0  # an exercise's largest share of its points, with a bonus
_DRIVE = Path("/content/drive/MyDrive")  # Google Drive in Colab, once it is mounted


class ProgressFileError(OSError):
    """The progress file cannot be read or written; the text says why."""


@dataclass(frozen=True)
class StoredVerdict:
    """The last verdict on an exercise, of this session or an earlier one.

    ``share`` is the share of the points, ``cases`` is like "13 of 14"; ``target`` is
    the answer's name, and ``source`` a digest of the cell that defined it, "" if none.
    """

    share: float
    passed: bool
    cases: str
    target: str = ""
    source: str = ""


def find_folder() -> Path | None:
    """Find the folder of the progress file; None if nothing should be stored."""
    if not is_attended():
        return None
    if "google.colab" not in sys.modules:
        return Path.cwd()
    notebooks = _DRIVE / "Colab Notebooks"
    return next((p for p in (notebooks, _DRIVE) if p.is_dir()), Path.cwd())


def lasts(folder: Path) -> bool:
    """Whether the folder outlives the session, which Colab's local disk does not."""
    return "google.colab" not in sys.modules or folder.is_relative_to(_DRIVE)


def read(folder: Path) -> dict[str, StoredVerdict]:
    """Read the last verdict on each exercise, by name; {} if there is no file.

    Raises:
        ProgressFileError: the file is damaged, or is not a progress file.
    """
    path = folder / PROGRESS
    if not path.is_file():
        return {}
    try:
        if path.stat().st_size > _LARGEST:
            raise ValueError("too large")
        record = json.loads(path.read_text(encoding="utf-8"))
        if record["format"] != _FORMAT:
            raise ValueError("another format")
        return {
            str(name): _read_verdict(entry)
            for name, entry in record["exercises"].items()
        }
    except _UNREADABLE:
        raise ProgressFileError(
            _(
                "{file} does not hold your progress and is ignored; `check.reset()` "
                "replaces it"
            ).format(file=PROGRESS)
        ) from None


def _read_verdict(entry: Mapping[str, object]) -> StoredVerdict:
    """Read a stored verdict, after checking its types and its share."""
    share, passed, cases, target, source = (
        entry[field.name] for field in fields(StoredVerdict)
    )
    if not isinstance(share, float | int) or not isinstance(passed, bool):
        raise TypeError("of another kind")
    if not 0 <= share <= _MOST:
        raise ValueError("no share of points")
    return StoredVerdict(float(share), passed, str(cases), str(target), str(source))


def read_all(folder: Path) -> dict[str, StoredVerdict]:
    """Merge the progress files of a folder and of the folders beside it.

    nbgrader gives each unit a folder of its own. Files that are unreadable, or that
    belong to another user, are left out.
    """
    verdicts: dict[str, StoredVerdict] = {}
    for path in sorted(folder.parent.glob(f"*/{PROGRESS}")):
        if path.parent != folder and _are_of_one_owner(path, folder):
            verdicts |= or_nothing(path.parent)
    return verdicts | or_nothing(folder)


def _are_of_one_owner(first: Path, second: Path) -> bool:
    try:
        return first.stat().st_uid == second.stat().st_uid
    except OSError:  # it is gone, or may not be accessed
        return False


def or_nothing(folder: Path) -> dict[str, StoredVerdict]:
    """Read the progress file of a folder; {} if `read` refuses it."""
    try:
        return read(folder)
    except ProgressFileError:
        return {}


def keep(folder: Path, name: str, verdict: StoredVerdict) -> None:
    """Add the verdict on the named exercise to a folder's progress file.

    Raises:
        ProgressFileError: the file is damaged, not a progress file, or not writable.
    """
    _write(folder, read(folder) | {name: verdict})


def forget(folder: Path) -> None:
    """Replace a folder's progress file, whatever it holds, by one without verdicts.

    Raises:
        ProgressFileError: the file cannot be written.
    """
    _write(folder, {})


def _write(folder: Path, verdicts: Mapping[str, StoredVerdict]) -> None:
    """Write the file by way of a temporary one, so that it is never half-written."""
    entries = {name: asdict(verdict) for name, verdict in sorted(verdicts.items())}
    text = json.dumps({"format": _FORMAT, "exercises": entries}, indent=1)
    part = folder / f"{PROGRESS}.{os.getpid()}.part"
    try:
        part.write_text(text, encoding="utf-8")
        part.replace(folder / PROGRESS)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise ProgressFileError(
            _(
                "{file} cannot be written ({reason}): your progress ends with this "
                "session"
            ).format(file=PROGRESS, reason=error.strerror)
        ) from None
