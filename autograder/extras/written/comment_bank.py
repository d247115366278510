"""Comments on written answers, kept for each line of the rubric, to be used again.

In a table's column "comment", "a+ text" says it and keeps it for the first line of the
rubric ("b+" for the second), where it gets the next key: "a1", "a2". From then on the
keys alone, "a1 b2", say what was kept. ``comments/UNIT-QUESTION.csv`` is the bank.
"""

from __future__ import annotations

import re
import string
from collections.abc import Sequence
from dataclasses import astuple, dataclass, fields
from pathlib import Path

from autograder.course import files, sheet
from autograder.course.errors import CourseError, list_present

_KEY = re.compile(r"[a-z]\d{1,3}")
_KEEP = re.compile(r"([a-z])\+\s+(\S.*)", re.DOTALL)


@dataclass(frozen=True)
class KeptComment:
    """A comment, by its key; ``line`` of the rubric that it is about."""

    key: str
    line: str
    comment: str


def place(root: Path, unit: str, question: str) -> Path:
    """The path of a question's bank."""
    return root / "comments" / f"{unit}-{question}.csv"


def read(path: Path) -> list[KeptComment]:
    """The comments of a bank; none where there is none yet.

    Raises:
        CourseError: it cannot be read, or two comments have one key.
    """
    if not path.is_file():
        return []
    table, titles = sheet.read(path), [field.name for field in fields(KeptComment)]
    comments = [
        KeptComment(*(sheet.as_meant(table.cell(row, title)) for title in titles))
        for row in table.rows
    ]
    if len({entry.key for entry in comments}) < len(comments):
        raise CourseError(f"{path}: two comments have the same key; change one")
    return comments


def write(path: Path, bank: Sequence[KeptComment]) -> None:
    """Write a bank."""
    titles = [field.name for field in fields(KeptComment)]
    files.write(path, sheet.as_harmless_text([titles, *map(astuple, bank)]))


def expand_comment(
    text: str, bank: Sequence[KeptComment], lines: Sequence[str]
) -> tuple[str, list[KeptComment]]:
    """Expand keys into the comment that they stand for; add a new one to the bank.

    Args:
        text: as it was typed; what is neither keys nor to be kept stays as it is.
        lines: of the rubric.

    Raises:
        CourseError: there is no such key, or no such line.
    """
    words = text.split()
    if words and all(_KEY.fullmatch(word) for word in words):
        by_key = {entry.key: entry.comment for entry in bank}
        if missing := [word for word in words if word not in by_key]:
            listed = list_present(list(by_key))
            raise CourseError(f'no comment "{missing[0]}" is kept; {listed}')
        return " ".join(by_key[word] for word in words), list(bank)
    if not (match := _KEEP.fullmatch(text.strip())):
        return text, list(bank)
    letter, comment = match[1], match[2]
    number = string.ascii_lowercase.index(letter)
    if number >= max(1, len(lines)):
        raise CourseError(f'"{letter}+": the rubric has {len(lines)} lines, from a on')
    duplicates = [
        entry for entry in bank if entry.key[0] == letter and entry.comment == comment
    ]
    if duplicates:
        return comment, list(bank)
    used = [
        int(entry.key[1:]) for entry in bank if re.fullmatch(f"{letter}\\d+", entry.key)
    ]
    line = lines[number] if lines else ""
    new_entry = KeptComment(f"{letter}{max(used, default=0) + 1}", line, comment)
    return comment, [*bank, new_entry]
