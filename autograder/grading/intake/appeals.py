"""Cells in which a student asks for a regrade, such as "Regrade 2.3: my reason".

Such a cell is called an appeal. A hand-in that differs from the earlier one in
appeals only does not replace it, so the time of the earlier hand-in counts.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from autograder.grading.intake.common import OF_NBGRADER, RefusedError
from autograder.grading.intake.files import File, take
from autograder.grading.intake.reading import StudentCell, read

_APPEAL = re.compile(
    r"\A[\s*_#>]*+regrade\s+([\w.-]{1,80}?)[\s*_]*:[\s*_]*(\S.*)", re.I | re.S
)
_MAX_CHARACTERS = 2000  # characters of a reason
Cells = tuple[tuple[str, str], ...]


def read_appeals(folder: Path) -> dict[str, str]:
    """Map each exercise that a hand-in asks to regrade to the student's reason.

    It is named as the student wrote it, such as "2.3".
    """
    try:
        return _find_appeals(take(folder).files)
    except RefusedError:
        return {}


def only_appeals(earlier: Path, new: Path) -> bool:
    """Whether a new hand-in differs from the earlier one in appeals only."""
    try:
        new_files = take(new).files
        if not _find_appeals(new_files):
            return False
        return _work(take(earlier).files) == _work(new_files)
    except RefusedError:  # one of them is a link
        return False


def _find_appeals(files: Mapping[str, File]) -> dict[str, str]:
    """Map each exercise that an appeal in these files names to the student's reason."""
    appeals: dict[str, str] = {}
    for cell in (cell for cells in _notebooks(files) for cell in cells):
        if match := _APPEAL.match(cell.source):
            appeals.setdefault(match[1], match[2].strip()[:_MAX_CHARACTERS])
    return appeals


def _work(files: Mapping[str, File]) -> tuple[list[Cells], dict[str, bytes]]:
    """Return what a hand-in contains apart from appeals, to compare two hand-ins.

    This is (kind, text) of each notebook's cells, and other files by path.
    """
    notebooks = [
        tuple(
            (cell.kind, cell.source)
            for cell in cells
            if cell.source.strip() and not _APPEAL.match(cell.source)
        )
        for cells in _notebooks(files)
    ]
    others = {
        path: file.data
        for path, file in files.items()
        if not path.endswith(".ipynb") and path not in OF_NBGRADER
    }
    return sorted(notebooks), others


def _notebooks(files: Mapping[str, File]) -> Iterator[tuple[StudentCell, ...]]:
    """Yield each notebook's cells; for an unreadable one, a cell with its digest."""
    for path, file in files.items():
        if path.endswith(".ipynb"):
            try:
                yield read(file.data).cells
            except RefusedError:
                yield (StudentCell("", hashlib.sha256(file.data).hexdigest()),)
