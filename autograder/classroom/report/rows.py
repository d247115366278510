"""What a report holds, line by line; nothing here computes or lays out."""

from __future__ import annotations

from dataclasses import dataclass

from autograder.classroom.classbook import Submission
from autograder.grading.gradebook.changes import Change


@dataclass(frozen=True)
class Band:
    """Scores from ``low`` to ``high`` percent; the last band includes its end."""

    low: int
    high: int
    count: int


@dataclass(frozen=True)
class CaseRow:
    """A case of an exercise, and how many of those who tried failed it."""

    title: str
    hidden: bool
    count: int


@dataclass(frozen=True)
class ExerciseRow:
    """How the class did on one exercise; numbers are None where nobody is graded yet.

    Attributes:
        mean: share of the points, 0 to 1.
        full, part, none: how many have all, some, and no points; None: not told.
        waiting: how many a person has yet to grade.
        index: correlation with the points in all other exercises, -1 to 1.
        remark: what the index, or the lack of one, says.
        seconds: median time of its check.
        blank: how many left the stub as it was; the others who have no points tried.
        failed: how many failed each case, in the order of the cases; none if nobody.
        stuck: who has no points.
        before, index_before: of an earlier term; None where they are not known.
    """

    name: str
    max_points: float
    written: bool
    mean: float | None
    full: int | None
    part: int | None
    none: int | None
    waiting: int
    index: float | None
    remark: str
    inside: int
    seconds: float | None
    blank: int | None = None
    failed: tuple[CaseRow, ...] = ()
    stuck: tuple[str, ...] = ()
    before: float | None = None
    index_before: float | None = None


@dataclass(frozen=True)
class MistakeRow:
    """A reason for lost points and how often it was met; ``name`` "" if it has none."""

    exercise: str
    name: str
    message: str
    count: int
    students: tuple[str, ...] = ()


@dataclass(frozen=True)
class HelpRow:
    """A student whom a teacher should look at, and why."""

    student: str
    points: float
    reasons: tuple[str, ...]


@dataclass(frozen=True)
class Tally:
    """How often something happened, and to whom."""

    label: str
    count: int
    students: tuple[str, ...] = ()


@dataclass(frozen=True)
class ExtraSection:
    """A section of an extra, for the instructor only; ``html`` is below its title."""

    id: str
    title: str
    html: str


@dataclass(frozen=True)
class Overview:
    """All that a report shows.

    Attributes:
        named: False for the shareable one.
        known_max: the points that no person gives; ``median`` and ``mean`` are of them.
        behind: how many have few of these.
        repairs, refused, levels: of submissions, by what was put right, by why they
            could not be graded, and by the isolation that they ran in.
        uncounted: how many of them had no control group.
        seconds: of grading a submission, the median, the most, and of all together.
        missing: who has handed in nothing; ``ungraded``: what is not graded yet.
        slowest: students with the seconds that grading took.
        changes: of scores, the newest first.
        sections: of extras.
    """

    unit: str
    named: bool
    handed_in: int
    absent: int
    max_points: float
    known_max: float
    median: float
    mean: float
    late: int
    waiting: int
    bands: tuple[Band, ...]
    exercises: tuple[ExerciseRow, ...]
    mistakes: tuple[MistakeRow, ...]
    behind: int
    repairs: tuple[Tally, ...]
    refused: tuple[Tally, ...]
    levels: tuple[Tally, ...]
    uncounted: int
    seconds: tuple[float, float, float] | None
    help: tuple[HelpRow, ...] = ()
    students: tuple[Submission, ...] = ()
    missing: tuple[str, ...] = ()
    slowest: tuple[tuple[str, float], ...] = ()
    sections: tuple[ExtraSection, ...] = ()
    ungraded: tuple[str, ...] = ()
    changes: tuple[Change, ...] = ()
