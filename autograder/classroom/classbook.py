"""The data of a graded unit: its students, their submissions, points and verdicts."""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field

from autograder.course.errors import CourseError, list_matches, list_present
from autograder.grading.judge.verdict import Verdict
from autograder.grading.titles import number


@functools.cache
def plain(name: str) -> str:
    """Normalise a name for comparison: no case, spaces or punctuation.

    An accented letter is the same whether or not the accent is a character of its own.
    """
    folded = unicodedata.normalize("NFKC", name).casefold()
    return re.sub(r"[\W_]+", "", folded)


@dataclass(frozen=True)
class Item:
    """An exercise or question with points; a person grades the ``written`` ones."""

    name: str
    max_points: float
    written: bool = False


@dataclass(frozen=True)
class Student:
    """A student in the gradebook; all fields but ``id`` may be ""."""

    id: str
    first_name: str = ""
    last_name: str = ""
    email: str = ""
    lms_id: str = ""

    @property
    def name(self) -> str:
        """The full name, or the id if no name is known."""
        return f"{self.first_name} {self.last_name}".strip() or self.id

    @property
    def full(self) -> str:
        """The name, with the id in parentheses, or the id alone."""
        return self.id if self.name == self.id else f"{self.name} ({self.id})"


@dataclass(frozen=True)
class HandMark:
    """Points that a person gave to an answer, and a comment for its student.

    Attributes:
        automatic: the points that the check gives; None if it has not decided.
        replaced: whether ``points`` replace the check's, rather than add to them.
        who: who gave the points or wrote the comment, and when; "" if unknown.
    """

    points: float | None = None
    automatic: float | None = None
    replaced: bool = False
    comment: str = ""
    who: str = ""

    @property
    def about_points(self) -> str:
        """How points by hand relate to the check's, in words; "" if there are none."""
        if self.points is None:
            return ""
        if not self.replaced:
            return f"{self.points:g} of them extra, {self._by_hand}"
        automatic = self.automatic
        check = "has not decided" if automatic is None else f"gives {automatic:g}"
        return f"{self._by_hand}; the check {check}"

    @property
    def _by_hand(self) -> str:
        return f"by hand, {self.who}" if self.who else "by hand"


@dataclass(frozen=True)
class Submission:
    """A student's graded work in a unit.

    Attributes:
        points: by exercise; None where a person has yet to grade.
        penalty: points taken off for lateness.
        late: by how many seconds it was late; 0 if in time or unknown.
        called_late: whether it was late; without known times, whether the LMS says
            so.
        records: the judge's verdicts by exercise, without written answers.
        repairs: (kind, sentence) for each repair before grading.
        refused: why it could not be graded, "" if it could.
        level: the level of isolation in which its code ran, "" if it did not run.
        is_grouped: False if its code ran without a Linux control group.
        seconds: how long grading took, None if unknown.
        graded: identifiers of the graded notebooks; "" for one without a result.
        marks: points and comments that people gave, by exercise.
        provenance: when and with which versions each notebook was graded.
    """

    student: Student
    points: Mapping[str, float | None]
    penalty: float = 0.0
    late: float = 0.0
    records: Mapping[str, Verdict] = field(default_factory=dict)
    repairs: tuple[tuple[str, str], ...] = ()
    refused: str = ""
    level: str = ""
    is_grouped: bool = True
    seconds: float | None = None
    called_late: bool = False
    graded: frozenset[str] = frozenset()
    marks: Mapping[str, HandMark] = field(default_factory=dict)
    provenance: tuple[Mapping[str, str], ...] = ()

    @property
    def waiting(self) -> tuple[str, ...]:
        """The exercises that a person has yet to grade."""
        return tuple(name for name, points in self.points.items() if points is None)

    @property
    def graded_points(self) -> float:
        """The sum of the points given so far, before any penalty."""
        return sum(points for points in self.points.values() if points is not None)

    @property
    def points_after_penalty(self) -> float:
        """The sum of the points given so far, after the penalty, and at least 0."""
        return max(0.0, self.graded_points - self.penalty)

    @property
    def score(self) -> float | None:
        """The final points, as in nbgrader's export; None until all is graded."""
        return None if self.waiting else self.points_after_penalty


@dataclass(frozen=True)
class Classbook:
    """A unit with all its graded submissions, in the order of the students' ids.

    ``absent`` are the students in the gradebook who have no submission.
    """

    unit: str
    exercises: tuple[Item, ...]
    submissions: tuple[Submission, ...]
    absent: tuple[Student, ...] = ()

    @property
    def accepted(self) -> tuple[Submission, ...]:
        """The submissions that could be graded."""
        return tuple(entry for entry in self.submissions if not entry.refused)

    @property
    def refusals(self) -> tuple[Submission, ...]:
        """The submissions that could not be graded, and have no points yet."""
        return tuple(entry for entry in self.submissions if entry.refused)

    def of(self, student: str) -> Submission:
        """The submission of a student, by id.

        Raises:
            CourseError: there is none.
        """
        for submission in self.submissions:
            if submission.student.id == student:
                return submission
        raise CourseError(f"{student} has no graded submission of {self.unit}")

    def find_exercise(self, name: str) -> Item:
        """Find an exercise by its grade id, the end of it ("softmax"), or "2.3".

        Raises:
            CourseError: there is none, or several have that end.
        """
        names = [exercise.name for exercise in self.exercises]
        matches = [
            exercise
            for exercise in self.exercises
            if exercise.name == name
            # A full name does not also count as the end of a longer one.
            or (exercise.name.endswith(f"-{name}") and name not in names)
            or number(self.unit, exercise.name) == name.rstrip(".")
        ]
        if len(matches) > 1:
            raise CourseError(list_matches(name, (item.name for item in matches)))
        if not matches:
            raise CourseError(f'no exercise "{name}"; {list_present(names)}')
        return matches[0]

    @property
    def max_points(self) -> float:
        """The points of the whole unit."""
        return sum(exercise.max_points for exercise in self.exercises)
