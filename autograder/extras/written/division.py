"""Divide written answers between graders, and hide the names of students."""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from autograder.classroom.lms import stored_roster
from autograder.course.errors import CourseError, UsageError, list_present
from autograder.grading.secret import course_secret

_SYLLABLES = [first + vowel for first in "bdfghjklmnprstvz" for vowel in "aiou"]
_LENGTH = 5  # syllables of a pseudonym: two of 300 students share one in 24,000 classes


@dataclass(frozen=True)
class Part:
    """One of ``count`` parts into which the answers are divided, one for each grader.

    The part of an answer depends on its text only, so equal answers stay together.
    """

    number: int
    count: int

    @property
    def suffix(self) -> str:
        """The suffix for the names of the part's files, like "-1of2"."""
        return f"-{self.number}of{self.count}"

    @property
    def label(self) -> str:
        return f"part {self.number} of {self.count}"

    def contains(self, text: str) -> bool:
        digest = hashlib.sha256(text.encode("utf-8", "replace")).digest()
        return int.from_bytes(digest[:8]) % self.count == self.number - 1


@dataclass(frozen=True)
class RosterSection:
    """The students of the roster's section ``name``."""

    name: str
    students: frozenset[str]

    @property
    def suffix(self) -> str:
        """The suffix for the names of the section's files, like "-Monday_10"."""
        return "-" + re.sub(r"[^\w+-]+", "_", self.name)

    @property
    def label(self) -> str:
        return f"section {self.name}"


def find_section(root: Path, name: str) -> RosterSection:
    """Find a section in the roster that the course has stored.

    Raises:
        CourseError: the roster has no sections.
        UsageError: none of its sections has this name.
    """
    by_student = stored_roster.sections(root)
    if not by_student:
        raise CourseError(
            'the roster has no sections: give it a column "section", and store it '
            "with: autograder collect UNIT --roster roster.csv"
        )
    students = frozenset(s for s, section in by_student.items() if section == name)
    if not students:
        names = list_present(sorted(set(by_student.values())))
        raise UsageError(f'no section "{name}"; {names}')
    return RosterSection(name, students)


def parse_part(text: str) -> Part:
    """Parse a part like "1/2".

    Raises:
        UsageError: the text is not a part.
    """
    match = re.fullmatch(r"(\d{1,3})/(\d{1,3})", text)
    part = Part(int(match[1]), int(match[2])) if match else Part(0, 0)
    if not 1 <= part.number <= part.count:
        raise UsageError(
            f"--part {text}: write it like 1/2 for one person and 2/2 for the other"
        )
    return part


def pseudonyms(root: Path, unit: str, students: Iterable[str]) -> dict[str, str]:
    """Map students to pseudonyms for one assignment, made from the course's secret.

    Raises:
        CourseError: the secret cannot be read.
    """
    key = course_secret(root)
    return {student: _pseudonym(key, f"{unit}\n{student}") for student in students}


def _pseudonym(key: bytes, text: str) -> str:
    digest = hmac.digest(key, text.encode("utf-8", "replace"), "sha256")
    return "".join(_SYLLABLES[byte % len(_SYLLABLES)] for byte in digest[:_LENGTH])
