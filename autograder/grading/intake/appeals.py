"""Cells in which a student asks to look at a grade again: "Regrade 2.3: my reason".

A student who only asks hands in the same work. It does not take the place of the
earlier hand-in, whose time counts.
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
_LONGEST = 2000  # letters of a reason
Cells = tuple[tuple[str, str], ...]


def read_appeals(folder: Path) -> dict[str, str]:
    """The reasons in the notebooks of a hand-in, by what the student calls an exercise.

    The first cell about an exercise counts. What cannot be read asks nothing.
    """
    try:
        return _find_appeals(take(folder).files)
    except RefusedError:
        return {}


def only_appeals(earlier: Path, new: Path) -> bool:
    """Whether a new hand-in is the earlier one with appeals in it."""
    try:
        new_files = take(new).files
        if not _find_appeals(new_files):
            return False
        return _work(take(earlier).files) == _work(new_files)
    except RefusedError:  # one of them is a link
        return False


def _find_appeals(files: Mapping[str, File]) -> dict[str, str]:
    appeals: dict[str, str] = {}
    for cell in (cell for cells in _notebooks(files) for cell in cells):
        if match := _APPEAL.match(cell.source):
            appeals.setdefault(match[1], match[2].strip()[:_LONGEST])
    return appeals


def _work(files: Mapping[str, File]) -> tuple[list[Cells], dict[str, bytes]]:
    """What is graded of a hand-in: cells without appeals, and the other files."""
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
    for path, file in files.items():
        if path.endswith(".ipynb"):
            try:
                yield read(file.data).cells
            except RefusedError:
                yield (StudentCell("", hashlib.sha256(file.data).hexdigest()),)
