"""Item analysis: results of each exercise, and how well it discriminates students."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from autograder.classroom.classbook import Classbook, Item, Submission
from autograder.classroom.report.rows import CaseRow, ExerciseRow, Overview
from autograder.course import sheet
from autograder.course.errors import CourseError
from autograder.grading.judge.verdict import Verdict

ENOUGH = 10  # submissions, the least for a discrimination index
CHANGED = 0.2  # change of the mean share between two terms that deserves a remark
WEAK = 0.2  # discrimination below this says little (Ebel and Frisbie, 1991)


def points_from_checks(submission: Submission, exercises: Sequence[Item]) -> float:
    """Sum a submission's points from checks, without those for written answers."""
    written = {exercise.name for exercise in exercises if exercise.written}
    return sum(p or 0.0 for n, p in submission.points.items() if n not in written)


def exercises(book: Classbook) -> Iterator[ExerciseRow]:
    """Analyse the results of each exercise and written question."""
    for exercise in book.exercises:
        name, most = exercise.name, exercise.max_points
        graded = [s for s in book.accepted if s.points.get(name) is not None]
        points = [p for s in graded if (p := s.points[name]) is not None]
        records = [s.records[name] for s in graded if name in s.records]
        index, remark = _discrimination(book, exercise, graded)
        none = sum(p <= 0 for p in points)
        full = sum(p >= most for p in points)
        yield ExerciseRow(
            name=name,
            max_points=most,
            written=exercise.written,
            mean=statistics.mean(points) / most if points and most else None,
            full=full,
            part=len(points) - full - none,
            none=none,
            waiting=len(book.accepted) - len(graded),
            index=index,
            remark=remark,
            decided_inside=sum(record.decided == "inside" for record in records),
            seconds=statistics.median(r.seconds for r in records) if records else None,
            blank=None if exercise.written else sum(r.is_unsolved for r in records),
            failed=tuple(_failed(records)),
            without_points=tuple(s.student.id for s in graded if s.points[name] == 0),
        )


def _failed(records: Iterable[Verdict]) -> Iterator[CaseRow]:
    """Yield each case that any answer failed, with how many answers failed it."""
    cases: dict[str, CaseRow] = {}
    for record in records:
        for case in record.cases:
            row = cases.get(case.name, CaseRow(case.title, case.hidden, 0))
            cases[case.name] = replace(row, count=row.count + bool(case.problem))
    yield from (row for row in cases.values() if row.count)


def _discrimination(
    book: Classbook, exercise: Item, graded: Sequence[Submission]
) -> tuple[float | None, str]:
    """Measure how well an exercise tells good students from others; remark on it.

    This is the corrected item-total correlation: that of its points with those in
    all other checks. It is None if it cannot be computed, and the remark says why.
    """
    points = [s.points[exercise.name] or 0.0 for s in graded]
    # To subtract from all points of checks, which leave out written answers.
    exercise_points = [0.0 if exercise.written else p for p in points]
    pairs = zip(graded, exercise_points, strict=True)
    other_points = [points_from_checks(s, book.exercises) - p for s, p in pairs]
    if len(graded) < ENOUGH:
        return None, f"too few graded submissions to tell ({len(graded)} of {ENOUGH})"
    if min(points) >= exercise.max_points:
        return None, "everybody has all points: it does not tell students apart"
    if max(points) <= 0 and exercise.written:
        return None, "nobody has a point: left blank, or worth none"
    if max(points) <= 0:
        return None, "nobody has a point: look at the check and its text first"
    if min(points) == max(points) or min(other_points) == max(other_points):
        return None, "all have the same points: it does not tell students apart"
    index = statistics.correlation(points, other_points)
    if index < 0:
        return index, "who does well elsewhere does worse here: look at this one first"
    if index < WEAK:
        return index, "says little: who does well elsewhere does hardly better here"
    return index, ""


def with_before(overview: Overview, path: Path) -> Overview:
    """Add the means and indices of an earlier term's shareable table to a report.

    Raises:
        CourseError: the file is not such a table of this unit.
    """
    table = sheet.read(path)
    try:
        earlier = {
            table.cell(row, "exercise"): [
                float(text) if (text := table.cell(row, title)) else None
                for title in ("mean_share", "discrimination")
            ]
            for row in table.rows
        }
    except ValueError:
        earlier = {}
    if not earlier.keys() & {row.name for row in overview.exercises}:
        raise CourseError(
            f"{path} is not a shareable report of this unit (report --shareable)"
        )
    unknown = (None, None)
    rows = (_beside(r, *earlier.get(r.name, unknown)) for r in overview.exercises)
    return replace(overview, exercises=tuple(rows))


def _beside(row: ExerciseRow, mean: float | None, index: float | None) -> ExerciseRow:
    """Add an earlier term's mean and index to a row, and remark on large changes."""
    remarks = [row.remark] if row.remark else []
    if mean is not None and row.mean is not None and abs(row.mean - mean) >= CHANGED:
        remarks.append(
            "easier than before" if row.mean > mean else "harder than before"
        )
    if row.index is not None and index is not None and row.index < WEAK <= index:
        remarks.append("it told students apart before")
    return replace(row, mean_before=mean, index_before=index, remark="; ".join(remarks))
