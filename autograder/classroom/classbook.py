"""A graded unit as data: a class, its submissions, their points and records."""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field

from autograder.course.errors import CourseError, list_present
from autograder.grading.judge.verdict import Verdict


@functools.cache
def plain(name: str) -> str:
    """A name without case, blanks and punctuation.

    Letters with their accents apart, or in one, are the same.
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
    """Somebody in the gradebook; all but ``id`` may be "" there."""

    id: str
    first_name: str = ""
    last_name: str = ""
    email: str = ""
    lms_id: str = ""

    @property
    def name(self) -> str:
        """The full name, or the id where none is known."""
        return f"{self.first_name} {self.last_name}".strip() or self.id

    @property
    def full(self) -> str:
        """The name with the id beside it, or the id alone."""
        return self.id if self.name == self.id else f"{self.name} ({self.id})"


@dataclass(frozen=True)
class HandMark:
    """Points that a person gave to an answer, and a comment for its student.

    Attributes:
        points: those by hand; None if there are only a comment or the check's own.
        automatic: what the check gives; None if it has not decided.
        replaced: whether the points stand in place of the check's, not beside them.
        who: gave the points or wrote the comment, and when; "" if it was not logged.
    """

    points: float | None = None
    automatic: float | None = None
    replaced: bool = False
    comment: str = ""
    who: str = ""

    @property
    def about_points(self) -> str:
        """Say how points by hand relate to the check's; "" if there are none."""
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
    """One student's unit: points by exercise, None where a person has yet to grade.

    Attributes:
        penalty: points taken off for lateness.
        late: how late it came, in seconds; 0 if in time or unknown.
        called_late: whether it is late, or the LMS says so without saying how much.
        records: the judge's records by exercise; none for written answers.
        repairs: (kind, sentence) of what was put right before grading.
        refused: why it could not be graded, "" if it could.
        level: the isolation that its code ran in, "" if it did not run.
        is_grouped: whether a control group counted what its code used.
        seconds: how long grading took, None if that was not noted.
        graded: what was graded, by its identity; "" for what could not be decided.
        marks: what people did by hand, by exercise.
        provenance: when and with what each notebook was graded.
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
        """The points so far, without what waits, before any penalty."""
        return sum(points for points in self.points.values() if points is not None)

    @property
    def so_far(self) -> float:
        """The points so far, without what waits, and after the penalty."""
        return max(0.0, self.graded_points - self.penalty)

    @property
    def score(self) -> float | None:
        """The final points, as nbgrader's export has them; None while one waits."""
        return None if self.waiting else self.so_far


@dataclass(frozen=True)
class Classbook:
    """A unit with all its graded submissions, in the order of the students' ids."""

    unit: str
    exercises: tuple[Item, ...]
    submissions: tuple[Submission, ...]
    absent: tuple[Student, ...] = ()

    @property
    def accepted(self) -> tuple[Submission, ...]:
        """Those that could be graded: a refused one says nothing of its student."""
        return tuple(
            submission for submission in self.submissions if not submission.refused
        )

    @property
    def refusals(self) -> tuple[Submission, ...]:
        """Those that could not be graded, and have zero points until they are."""
        return tuple(
            submission for submission in self.submissions if submission.refused
        )

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
        """Find an exercise by its grade id, or by the end of it: "softmax".

        Raises:
            CourseError: there is none, or several have that end.
        """
        names = [exercise.name for exercise in self.exercises]
        matches = [
            exercise
            for exercise in self.exercises
            if exercise.name == name or exercise.name.endswith(f"-{name}")
        ]
        if len(matches) != 1:
            raise CourseError(f'no exercise "{name}"; {list_present(names)}')
        return matches[0]

    @property
    def max_points(self) -> float:
        return sum(exercise.max_points for exercise in self.exercises)
