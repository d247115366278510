"""Compute everything that the class report shows about a unit's grades."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from autograder.classroom.classbook import Classbook, Submission
from autograder.classroom.report.items import exercises, points_from_checks
from autograder.classroom.report.rows import (
    Band,
    ExtraSection,
    HelpRow,
    MistakeRow,
    Overview,
    Tally,
)
from autograder.classroom.report.shareable import FEWEST, anonymous
from autograder.course import grade_ids
from autograder.course.errors import CourseError
from autograder.course.printable import format_count
from autograder.grading.gradebook.changes import Change
from autograder.grading.titles import title

BANDS = 10  # bands of the score distribution
BEHIND = 0.5  # students with less than this share of the points are listed
ZEROS = 2  # so are students without points in so many exercises
_SHOWN = 6  # of these exercises are named


def overview(
    book: Classbook, sections: Sequence[ExtraSection] = (), named: bool = True,
    ungraded: Sequence[str] = (), changes: Sequence[Change] = (),
) -> Overview:  # fmt: skip
    """Compute the report of a class.

    Args:
        named: False for a report to share, which identifies no students.
        ungraded: students whose latest submission is not graded.
        changes: changes of scores, the oldest first.

    Raises:
        CourseError: the class is too small for a report without names.
    """
    submissions, counted = book.submissions, book.accepted
    if not named and len(counted) < FEWEST:
        raise CourseError(
            f"a shareable report of {len(counted)} submissions would identify people; "
            f"it needs at least {FEWEST}"
        )
    most = sum(e.max_points for e in book.exercises if not e.written)
    scores = [points_from_checks(submission, book.exercises) for submission in counted]
    absent = [student for student in book.absent if student.id not in ungraded]
    seconds = [s.seconds for s in submissions if s.seconds is not None]
    report = Overview(
        unit=book.unit,
        named=named,
        handed_in=len(counted),
        absent=len(absent),
        max_points=book.max_points,
        known_max=most,
        median=statistics.median(scores or [0.0]),
        mean=statistics.mean(scores or [0.0]),
        late=sum(submission.called_late for submission in submissions),
        waiting=sum(len(submission.waiting) for submission in counted),
        bands=_bands(scores, most),
        exercises=tuple(exercises(book)),
        mistakes=tuple(_mistakes(submissions)),
        behind=sum(points < BEHIND * most for points in scores),
        repairs=_tally(
            (kind, s) for s in submissions for kind in {k for k, _ in s.repairs}
        ),
        refused=_tally((s.refused, s) for s in submissions if s.refused),
        levels=_tally((s.level or "not run", s) for s in submissions),
        uncounted=sum(not submission.is_grouped for submission in submissions),
        seconds=(statistics.median(seconds), max(seconds), sum(seconds))
        if seconds
        else None,
    )
    if not named:
        return anonymous(report)
    timed = [(s.student.id, s.seconds) for s in submissions if s.seconds is not None]
    return replace(
        report,
        help=tuple(_help(book, most)),
        students=submissions,
        missing=tuple(student.full for student in absent),
        ungraded=tuple(ungraded),
        changes=tuple(reversed(changes)),
        slowest=tuple(sorted(timed, key=lambda pair: -pair[1])[:5]),
        sections=tuple(sections),
    )


def _bands(points: Sequence[float], most: float) -> tuple[Band, ...]:
    """Count the scores in equal bands from 0 to the maximum, ``most`` points."""
    width = 100 // BANDS
    # The small surplus keeps rounding from moving a score to the band below.
    counts = Counter(
        min(BANDS - 1, int(BANDS * p / most + 1e-9)) if most else 0 for p in points
    )
    return tuple(Band(n * width, (n + 1) * width, counts[n]) for n in range(BANDS))


def _mistakes(submissions: Sequence[Submission]) -> list[MistakeRow]:
    """List the reasons for lost points: recognised mistakes, then others, by frequency.

    Exercises that were left blank are omitted: the table of exercises counts them.
    """
    met: dict[tuple[str, str, str], list[str]] = {}
    for submission in submissions:
        for exercise, record in submission.records.items():
            if record.points < record.max_points and not record.is_unsolved:
                message = record.says or record.note or "no mistake that has a name"
                reason = (exercise, record.mistake, message)
                met.setdefault(reason, []).append(submission.student.id)
    rows = [MistakeRow(*reason, len(s), tuple(s)) for reason, s in met.items()]
    return sorted(rows, key=lambda row: (not row.name, -row.count, row.exercise))


def _help(book: Classbook, most: float) -> Iterator[HelpRow]:
    """Students who may need help, those with the fewest points first.

    ``most`` are the attainable points, without those of written answers.
    """
    rows = []
    for submission in book.submissions:
        points = points_from_checks(submission, book.exercises)
        reasons = list(_reasons(submission, points, most, book))
        if reasons:
            rows.append(HelpRow(submission.student.id, points, tuple(reasons)))
    yield from sorted(rows, key=lambda row: (row.points, row.student))


def _reasons(
    submission: Submission, points: float, most: float, book: Classbook
) -> Iterator[str]:
    """Yield the reasons why a student may need help.

    ``points`` are the student's points from checks, out of ``most``.
    """
    if submission.refused:
        yield f"refused: {submission.refused}"
        return
    records = submission.records
    zeros = [
        title(book.unit, e.name) for e in book.exercises
        if not e.written and submission.points[e.name] == 0
    ]  # fmt: skip
    if len(zeros) >= ZEROS:
        listed = f"{', '.join(zeros[:_SHOWN])}{' ...' * (len(zeros) > _SHOWN)}"
        yield f"no points in {format_count(len(zeros), 'exercise')}: {listed}"
    # Exercises lost because the notebook was stopped; all of them have the same note.
    stopped = [r for r in records.values() if r.ended and r.ended.stops_notebook]
    if stopped:
        count = format_count(len(stopped), "exercise")
        yield f"{stopped[0].note} {count} lost to it."
    if points < BEHIND * most:
        yield f"less than {BEHIND:.0%} of the points"
        missed = [
            records[e.name] for e in book.exercises
            if e.name in records and records[e.name].points < records[e.name].max_points
        ]  # fmt: skip
        if missed:
            first = missed[0]
            check = grade_ids.of_check(first.exercise)
            yield (
                f"begins to lose points at {title(book.unit, check)}: "
                f"{first.says or first.note or 'no mistake that has a name'}"
            )


def _tally(pairs: Iterable[tuple[str, Submission]]) -> tuple[Tally, ...]:
    """Count submissions by label, the most frequent label first."""
    met: dict[str, list[str]] = {}
    for label, submission in pairs:
        met.setdefault(label, []).append(submission.student.id)
    rows = [Tally(label, len(s), tuple(s)) for label, s in met.items()]
    return tuple(sorted(rows, key=lambda row: (-row.count, row.label)))
