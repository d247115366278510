"""The data of a report: classes for its rows and for the whole."""

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
    """A case of an exercise, and how many submissions failed it."""

    title: str
    hidden: bool
    count: int


@dataclass(frozen=True)
class ExerciseRow:
    """How the class did on one exercise.

    Fields may be None where there is nothing to count, or in a shareable report.

    Attributes:
        mean: the mean share of the points.
        full, part, none: how many students have all, some, or no points.
        waiting: how many answers are not graded yet.
        index: correlation with the points in all other checks, -1 to 1.
        remark: what the index and changes since an earlier term mean.
        decided_inside: how many verdicts come from the sandbox, not from the judge.
        seconds: median time of its check.
        blank: how many students left the stub as it was.
        failed: the cases that students failed, with counts.
        without_points: the ids of students without points.
        mean_before, index_before: mean and index in an earlier term.
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
    decided_inside: int
    seconds: float | None
    blank: int | None = None
    failed: tuple[CaseRow, ...] = ()
    without_points: tuple[str, ...] = ()
    mean_before: float | None = None
    index_before: float | None = None


@dataclass(frozen=True)
class MistakeRow:
    """A reason for lost points, and its frequency.

    ``name`` is that of the recognised mistake, "" if none was recognised.
    """

    exercise: str
    name: str
    message: str
    count: int
    students: tuple[str, ...] = ()


@dataclass(frozen=True)
class HelpRow:
    """A student who may need help, and the reasons to think so."""

    student: str
    points: float
    reasons: tuple[str, ...]


@dataclass(frozen=True)
class Tally:
    """A label, such as a kind of repair, and how many submissions it applies to.

    ``students`` are the ids of those who handed them in; () in a shareable report.
    """

    label: str
    count: int
    students: tuple[str, ...] = ()


@dataclass(frozen=True)
class ExtraSection:
    """A section that an extra, an optional package, adds to the instructor's report.

    ``id`` is the section's anchor on the page, and ``html`` is its body.
    """

    id: str
    title: str
    html: str


@dataclass(frozen=True)
class Overview:
    """All data that the class report of a unit shows.

    Attributes:
        named: False for the shareable report.
        known_max: the maximum of points that checks give; ``median`` and ``mean``
            are of these points.
        behind: how many students have less than half of ``known_max``.
        repairs, refused, levels: counts of submissions, by kind of repair, reason
            for a refusal, and level of isolation.
        uncounted: how many submissions ran without a Linux control group.
        seconds: the time of grading a submission: median, maximum, and total.
        missing: students who have handed in nothing.
        ungraded: students whose latest submission is not graded yet.
        slowest: the students whose grading took longest, with the seconds.
        changes: changes of scores, the newest first.
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
