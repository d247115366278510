"""Report the course so far: all students over all units, as a page and a table.

A student's share of a unit is the points divided by the maximum, after late
penalties, and 0 if nothing was handed in. The share of the course is the
weighted mean of these, without a student's ``drop`` worst units.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from autograder.classroom import gradebook, page
from autograder.classroom.classbook import Classbook, Item, Student
from autograder.classroom.ungraded import ungraded
from autograder.course import is_called, sheet
from autograder.course.errors import CourseError, UsageError, list_matches
from autograder.grading.gradebook import extensions
from autograder.grading.gradebook.late_days import LateBudget, late_days


@dataclass(frozen=True)
class Mark:
    """A student's result in a unit.

    Attributes:
        share: of the unit's points, usually 0 to 1; what is ungraded counts as 0.
        waiting: whether something is not graded yet.
        late: days late, rounded up.
        extended: the student's extension, in seconds.
        dropped: whether it is one of the student's worst units, which do not count.
        exercises: each with its points, None while a person has yet to grade it.
    """

    share: float
    handed_in: bool
    waiting: bool = False
    late: int = 0
    extended: float = 0.0
    dropped: bool = False
    exercises: tuple[tuple[Item, float | None], ...] = ()


@dataclass(frozen=True)
class Standing:
    """A student with a mark for each unit, and the share of the whole course."""

    student: Student
    marks: tuple[Mark, ...]
    share: float

    @property
    def late(self) -> int:
        """Days late in all units together."""
        return sum(mark.late for mark in self.marks)


@dataclass(frozen=True)
class Progress:
    """The course's units with their weights, and a line for each student.

    ``late_days`` is each student's budget for the term, 0 if there is no budget.
    """

    units: tuple[str, ...]
    weights: tuple[float, ...]
    drop: int
    lines: tuple[Standing, ...]
    late_days: int = 0

    def days_left(self, line: Standing) -> int:
        """The number of late days that a student may still use."""
        return max(0, self.late_days - line.late)


def read(root: Path) -> list[Classbook]:
    """Read the results of all units of which something is graded.

    Raises:
        CourseError: nothing is graded in any unit.
    """
    books = []
    for unit in gradebook.assignments(root):
        try:
            books.append(gradebook.read(unit, root))
        except gradebook.NothingGradedError:
            continue
    if not books:
        raise CourseError("nothing is graded yet")
    return books


def progress(
    books: Sequence[Classbook],
    weights: Mapping[str, float],
    drop: int = 0,
    granted: Mapping[str, Mapping[str, float]] | None = None,
    new: Mapping[str, Sequence[str]] | None = None,
) -> Progress:
    """Combine the results of all units, for all students, sorted by id.

    Args:
        weights: by unit; units without one have the weight 1.
        drop: how many of a student's worst units do not count.
        granted: seconds of extension by unit and student.
        new: by unit, the students whose latest submission is not graded.

    Raises:
        CourseError: the weights or ``drop`` make no sense.
    """
    units = tuple(book.unit for book in books)
    if unknown := sorted(set(weights) - set(units)):
        raise CourseError(f"nothing is graded in {', '.join(unknown)}")
    heavy = tuple(weights.get(unit, 1.0) for unit in units)
    if min(heavy) < 0 or not sum(heavy):
        raise CourseError("weights must not be negative, and not all of them may be 0")
    counting = sum(weight > 0 for weight in heavy)
    if not 0 <= drop < counting:
        raise CourseError(f"of {counting} units that count, {drop} cannot be dropped")
    people = {
        person.id: person
        for book in books
        for person in (*(s.student for s in book.submissions), *book.absent)
    }
    for student in (name for names in (new or {}).values() for name in names):
        people.setdefault(student, Student(student))
    lines = []
    for student in sorted(people):
        marks = [_mark(book, student, granted or {}, new or {}) for book in books]
        lines.append(_line(people[student], marks, heavy, drop))
    return Progress(units, heavy, drop, tuple(lines))


def _mark(
    book: Classbook, student: str, granted: Mapping[str, Mapping[str, float]],
    new: Mapping[str, Sequence[str]],
) -> Mark:  # fmt: skip
    """A student's result in the unit of ``book``; see `progress`."""
    extended = granted.get(book.unit, {}).get(student, 0.0)
    submissions = [s for s in book.submissions if s.student.id == student]
    waits = student in new.get(book.unit, ())
    if not submissions:
        return Mark(0.0, False, waits, extended=extended)
    # The share of the unit's points.
    points = (
        submissions[0].points_after_penalty / book.max_points
        if book.max_points
        else 0.0
    )
    late = late_days(submissions[0].late)
    points_by_name = submissions[0].points
    exercises = tuple((e, points_by_name.get(e.name)) for e in book.exercises)
    waits = bool(submissions[0].waiting) or waits
    return Mark(points, True, waits, late, extended, exercises=exercises)


def _line(
    student: Student, marks: Sequence[Mark], weights: Sequence[float], drop: int
) -> Standing:
    """Combine marks into a share of the course, without a student's ``drop`` worst."""
    # To drop a unit without weight would not help the student.
    weighted = [n for n, weight in enumerate(weights) if weight]
    worst = sorted(weighted, key=lambda n: (marks[n].share, n))[:drop]
    counted = [n for n in range(len(marks)) if n not in worst]
    total_weight = sum(weights[n] for n in counted)
    total = sum(weights[n] * marks[n].share for n in counted)
    share = total / total_weight if total_weight else 0.0
    final = tuple(replace(mark, dropped=n in worst) for n, mark in enumerate(marks))
    return Standing(student, final, share)


def as_csv(course: Progress) -> str:
    """A row for each student; shares in percent, empty if nothing was handed in."""
    columns = [f"{unit} %" for unit in course.units]
    rows: list[list[object]] = [
        ["student", "name", "email", *columns, "course %", "late days", "waiting"]
    ]
    if course.late_days:
        rows[0].append("late days left")
    for line in course.lines:
        shares = [100 * m.share if m.handed_in else None for m in line.marks]
        waiting = sum(mark.waiting for mark in line.marks)
        student, share = line.student, 100 * line.share
        person = (student.id, student.name, student.email)
        left = [course.days_left(line)] if course.late_days else []
        rows.append([*person, *shares, share, line.late, waiting, *left])
    return sheet.as_harmless_text(rows)


def make(root: Path, path: Path, weights: Mapping[str, float], drop: int) -> list[Path]:
    """Write a page about all students' points, and a CSV table; return both paths.

    Args:
        weights: by unit; units without one have the weight 1.
        drop: how many of each student's worst units do not count.

    Raises:
        CourseError: nothing is graded, or the weights or ``drop`` make no sense.
    """
    books = read(root)
    granted = {book.unit: _granted(root, book.unit) for book in books}
    new = {book.unit: ungraded(book, root) for book in books}
    budget = LateBudget(config=gradebook.configured(root).config).days
    course = replace(progress(books, weights, drop, granted, new), late_days=budget)
    html = page.render("progress.html.j2", "course", course=course)
    return page.write_both(path, html, as_csv(course))


def _granted(root: Path, unit: str) -> dict[str, float]:
    """The extensions of an assignment in seconds, by student."""
    granted = extensions.granted(root, unit)
    return {student: time.total_seconds() for student, time in granted.items()}


def parse_weights(texts: Iterable[str], units: Sequence[str]) -> dict[str, float]:
    """Map units to weights, given texts like "06=3" that name a unit and its weight.

    Raises:
        UsageError: a weight cannot be read, or names no unit, or several.
    """
    weights = {}
    for text in texts:
        name, _, number = text.partition("=")
        matches = [unit for unit in units if is_called(unit, name)]
        try:
            weight = float(number)
        except ValueError:
            weight = math.nan
        if not (matches and math.isfinite(weight)):
            raise UsageError(f'"{text}" is not a weight; write one like 06=3')
        if len(matches) > 1:
            raise UsageError(list_matches(name, matches))
        weights[matches[0]] = weight
    return weights
