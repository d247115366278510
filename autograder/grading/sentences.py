"""Teachers' sentences on wrong answers in which no known mistake was recognised.

``sentences/UNIT.csv``, beside the gradebook, has sentences for groups of
answers that fail alike (`group_of`). Everybody in a group sees its sentence.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path

from autograder.course import files, sheet
from autograder.course.errors import CourseError
from autograder.grading.judge.verdict import Verdict

_TITLES = ("group", "sentence")


def group_of(verdict: Verdict) -> str:
    """Return the id of the group of wrong answers that an answer belongs to.

    Answers in a group fail the same cases in the same way. The id is "" if the
    answer is right, unsolved or already explained.
    """
    is_explained = verdict.mistake or verdict.is_unsolved or not verdict.panel
    failed = [
        [case.name, case.problem, case.answer] for case in verdict.cases if case.problem
    ]
    if is_explained or not failed or verdict.points >= verdict.max_points:
        return ""
    text = json.dumps([verdict.exercise, sorted(failed)])
    return hashlib.sha256(text.encode()).hexdigest()[:8]


def read(root: Path, unit: str) -> dict[str, str]:
    """Map each group of answers to its sentence; {} where there is no table yet.

    Raises:
        CourseError: the table cannot be read.
    """
    path = _place(root, unit)
    return from_table(path) if path.is_file() else {}


def from_table(path: Path) -> dict[str, str]:
    """Map groups to sentences, from a table with the columns "group" and "sentence".

    Raises:
        CourseError: the table cannot be read, or lacks a column.
    """
    table = sheet.read(path)
    if missing := [title for title in _TITLES if table.index(title) is None]:
        raise CourseError(
            f'{path} has no column "{missing[0]}"; write the table again with '
            "autograder unnamed"
        )
    rows = (
        [sheet.as_meant(table.cell(row, title)) for title in _TITLES]
        for row in table.rows
    )
    return {group: sentence for group, sentence in rows if group and sentence}


def keep(root: Path, unit: str, sentences: Mapping[str, str]) -> None:
    """Store sentences by group in a unit's table; other groups keep theirs."""
    merged = {**read(root, unit), **sentences}
    text = sheet.as_harmless_text([_TITLES, *sorted(merged.items())])
    files.write(_place(root, unit), text)


def _place(root: Path, unit: str) -> Path:
    """The path of a unit's table of sentences."""
    return root / "sentences" / f"{unit}.csv"
