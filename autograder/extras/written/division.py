"""Who reads which written answers: a part of them, and without names."""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from autograder.course.errors import UsageError
from autograder.grading.secret import course_secret

_SYLLABLES = [first + vowel for first in "bdfghjklmnprstvz" for vowel in "aiou"]
_LENGTH = 5  # syllables of a pseudonym: two of 300 students share one in 24,000 classes


@dataclass(frozen=True)
class Part:
    """A part of the answers, ``number`` of ``count``.

    An answer belongs to the same part whatever others write, and equal answers to one.
    """

    number: int
    count: int

    @property
    def suffix(self) -> str:
        """What it adds to the name of a file, like "-1of2"."""
        return f"-{self.number}of{self.count}"

    def contains(self, text: str) -> bool:
        digest = hashlib.sha256(text.encode("utf-8", "replace")).digest()
        return int.from_bytes(digest[:8]) % self.count == self.number - 1


def parse_part(text: str) -> Part:
    """Read a part like "1/2".

    Raises:
        UsageError: it is none.
    """
    match = re.fullmatch(r"(\d{1,3})/(\d{1,3})", text)
    part = Part(int(match[1]), int(match[2])) if match else Part(0, 0)
    if not 1 <= part.number <= part.count:
        raise UsageError(
            f"--part {text}: write it like 1/2 for one person and 2/2 for the other"
        )
    return part


def without_part(stem: str) -> str:
    """The name of a file without what a part adds to it."""
    return re.sub(r"-\d+of\d+$", "", stem)


def pseudonyms(root: Path, unit: str, students: Iterable[str]) -> dict[str, str]:
    """Name students for one assignment, so that only the course's secret tells who.

    Raises:
        CourseError: the secret cannot be read.
    """
    key = course_secret(root)
    return {student: _pseudonym(key, f"{unit}\n{student}") for student in students}


def _pseudonym(key: bytes, text: str) -> str:
    digest = hmac.digest(key, text.encode("utf-8", "replace"), "sha256")
    return "".join(_SYLLABLES[byte % len(_SYLLABLES)] for byte in digest[:_LENGTH])
