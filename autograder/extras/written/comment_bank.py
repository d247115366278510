"""Reusable comments on written answers, stored for each line of the rubric.

In a table's column "comment", "a+ text" uses the text as a comment and also stores it
for the first line of the rubric ("b+" for the second) under the next key: "a1", "a2".
From then on, keys alone, such as "a1 b2", stand for the stored comments. The bank is
the file ``comments/UNIT-QUESTION.csv``.
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
    """A stored comment: its key, the line of the rubric it is about, and its text."""

    key: str
    line: str
    comment: str


def place(root: Path, unit: str, question: str) -> Path:
    """The path of a question's comment bank."""
    return root / "comments" / f"{unit}-{question}.csv"


def read(path: Path) -> list[KeptComment]:
    """Read the comments of a bank; none if the bank does not exist yet.

    Raises:
        CourseError: the bank cannot be read, or two comments have the same key.
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
    """Write the comments of a bank."""
    titles = [field.name for field in fields(KeptComment)]
    files.write(path, sheet.as_harmless_text([titles, *map(astuple, bank)]))


def expand_comment(
    text: str, bank: Sequence[KeptComment], lines: Sequence[str]
) -> tuple[str, list[KeptComment]]:
    """Expand keys such as "a1" to their comments, or take a new one from "a+ text".

    Other text is not changed. The letters refer to the rubric's ``lines`` in order.

    Returns:
        The comment, and the bank, extended if the comment is new.

    Raises:
        CourseError: there is no such key, or no such line of the rubric.
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
    # Without a rubric, there is still the letter a.
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
