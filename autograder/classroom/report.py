"""The class report: what a unit's grades say, as one page and as a table.

``overview`` computes everything; the template only lays it out. The shareable overview
is made without names in the first place: what it does not hold, no page can show.
"""

from __future__ import annotations

import datetime
import statistics
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from autograder.classroom import gradebook, page, sheet, similarity
from autograder.classroom.gradebook import Classbook, Exercise, Submission
from autograder.classroom.similarity import Comparison
from autograder.course import files
from autograder.course.errors import CourseError
from autograder.grading.record import Record
from autograder.grading.titles import title

BANDS = 10  # of the score distribution
FEWEST = 5  # submissions that a shareable report is made of
RARE = 3  # groups of fewer people are not told apart in a shareable report
ENOUGH = 10  # submissions that a discrimination index is computed from
WEAK = 0.2  # discrimination below this says little (Ebel and Frisbie, 1991)
BEHIND = 0.5  # who has less than this share of the points is listed
MOST_ROWS = 30  # of a list that a class can make arbitrarily long


@dataclass(frozen=True)
class Band:
    """Scores from ``low`` to ``high`` percent; the last band includes its end."""

    low: int
    high: int
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
        before: the mean share of an earlier term; None where it is not known.
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
    before: float | None = None


@dataclass(frozen=True)
class CaseRow:
    """A case of an exercise, and how many of those who tried failed it."""

    title: str
    hidden: bool
    count: int


@dataclass(frozen=True)
class MistakeRow:
    """A reason for lost points and how often it was met; ``name`` "" if it has none."""

    exercise: str
    name: str
    says: str
    count: int
    students: tuple[str, ...] = ()


@dataclass(frozen=True)
class HelpRow:
    """A student whom a teacher should look at, and why."""

    student: str
    points: float
    reasons: tuple[str, ...]


@dataclass(frozen=True)
class StudentRow:
    """One line of the class's table."""

    student: str
    name: str
    submission: Submission


@dataclass(frozen=True)
class Tally:
    """How often something happened, and to whom."""

    what: str
    count: int
    students: tuple[str, ...] = ()


@dataclass(frozen=True)
class Overview:
    """All that a report shows. ``named`` is False for the shareable one."""

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
    seconds: tuple[float, float, float] | None
    help: tuple[HelpRow, ...] = ()
    students: tuple[StudentRow, ...] = ()
    missing: tuple[str, ...] = ()
    slowest: tuple[tuple[str, float], ...] = ()
    similar: Comparison | None = None


# --- what the grades say -------------------------------------------------------------


def overview(
    book: Classbook, similar: Comparison | None = None, named: bool = True
) -> Overview:
    """Compute the report of a class.

    Args:
        similar: solutions that are alike; shown to the instructor only.
        named: False for a report to share: no student, no group below ``RARE``.

    Raises:
        CourseError: the class is too small for a report that names nobody.
    """
    taken = book.submissions
    if not named and len(taken) < FEWEST:
        raise CourseError(
            f"with {len(taken)} submissions everybody could tell who is meant; a "
            f"shareable report needs {FEWEST}"
        )
    judged = sum(e.max_points for e in book.exercises if not e.written)
    known = [_judged(submission, book.exercises) for submission in taken]
    seconds = [s.seconds for s in taken if s.seconds is not None]
    whole = Overview(
        book.unit, named, len(taken), len(book.absent), book.max_points, judged,
        statistics.median(known), statistics.mean(known),
        sum(submission.called_late for submission in taken),
        sum(len(submission.waiting) for submission in taken),
        _bands(known, judged), tuple(_exercises(book)), tuple(_mistakes(taken)),
        sum(points < BEHIND * judged for points in known),
        _tally((kind, s) for s in taken for kind in {kind for kind, _ in s.repairs}),
        _tally((s.refused, s) for s in taken if s.refused),
        _tally((s.level or "not run", s) for s in taken),
        (statistics.median(seconds), max(seconds), sum(seconds)) if seconds else None,
    )  # fmt: skip
    if not named:
        return _anonymous(whole)
    timed = [(s.student.id, s.seconds) for s in taken if s.seconds is not None]
    return replace(
        whole,
        help=tuple(_help(book, judged)),
        students=tuple(StudentRow(s.student.id, s.student.name, s) for s in taken),
        missing=tuple(student.full for student in book.absent),
        slowest=tuple(sorted(timed, key=lambda pair: -pair[1])[:5]),
        similar=similar,
    )


def _judged(submission: Submission, exercises: Sequence[Exercise]) -> float:
    """The points that no person gives: comparable while some essays are unread."""
    written = {exercise.name for exercise in exercises if exercise.written}
    return sum(p or 0.0 for n, p in submission.points.items() if n not in written)


def _bands(points: Sequence[float], most: float) -> tuple[Band, ...]:
    width = 100 // BANDS
    which = Counter(
        min(BANDS - 1, int(BANDS * p / most + 1e-9)) if most else 0 for p in points
    )
    return tuple(Band(n * width, (n + 1) * width, which[n]) for n in range(BANDS))


def _exercises(book: Classbook) -> Iterator[ExerciseRow]:
    for exercise in book.exercises:
        name, most = exercise.name, exercise.max_points
        graded = [s for s in book.submissions if s.points.get(name) is not None]
        points = [p for s in graded if (p := s.points[name]) is not None]
        records = [s.records[name] for s in graded if name in s.records]
        index, remark = _discrimination(book, exercise, graded)
        none = sum(p <= 0 for p in points)
        full = sum(p >= most for p in points)
        yield ExerciseRow(
            name, most, exercise.written,
            statistics.mean(points) / most if points and most else None,
            full, len(points) - full - none, none,
            len(book.submissions) - len(graded), index, remark,
            sum(record.decided == "inside" for record in records),
            statistics.median(r.seconds for r in records) if records else None,
            None if exercise.written else sum(map(_is_blank, records)),
            tuple(_failed(records)),
        )  # fmt: skip


def _is_blank(record: Record) -> bool:
    return not record.cases and record.note.startswith("Not solved yet")


def _failed(records: Iterable[Record]) -> Iterator[CaseRow]:
    cases: dict[str, CaseRow] = {}
    for record in records:
        for case in record.cases:
            row = cases.get(case.name, CaseRow(case.title, case.hidden, 0))
            cases[case.name] = replace(row, count=row.count + bool(case.problem))
    yield from (row for row in cases.values() if row.count)


def _discrimination(
    book: Classbook, exercise: Exercise, graded: Sequence[Submission]
) -> tuple[float | None, str]:
    """The corrected item-total correlation of an exercise, and what it says.

    Of those whose submission could be read: a refused one says nothing on exercises.
    """
    others = [e for e in book.exercises if e.name != exercise.name]
    told = [s for s in graded if not s.refused]
    points = [s.points[exercise.name] or 0.0 for s in told]
    rest = [_judged(s, others) - _own(s, exercise) for s in told]
    if len(told) < ENOUGH:
        return None, f"too few graded submissions to tell ({len(told)} of {ENOUGH})"
    if min(points) >= exercise.max_points:
        return None, "everybody has all points: it does not tell students apart"
    if max(points) <= 0 and exercise.written:
        return None, "nobody has a point: left blank, or worth none"
    if max(points) <= 0:
        return None, "nobody has a point: look at the check and its text first"
    if min(points) == max(points) or min(rest) == max(rest):
        return None, "all have the same points: it does not tell students apart"
    index = statistics.correlation(points, rest)
    if index < 0:
        return index, "who does well elsewhere does worse here: look at this one first"
    if index < WEAK:
        return index, "says little: who does well elsewhere does hardly better here"
    return index, ""


def _own(submission: Submission, exercise: Exercise) -> float:
    return 0.0 if exercise.written else submission.points[exercise.name] or 0.0


def _mistakes(submissions: Sequence[Submission]) -> list[MistakeRow]:
    """The reasons for lost points: those with a name first, then by how common."""
    met: dict[tuple[str, str, str], list[str]] = {}
    for submission in submissions:
        for exercise, record in submission.records.items():
            if record.points < record.max_points:
                says = record.says or record.note or "no mistake that has a name"
                reason = (exercise, record.mistake, says)
                met.setdefault(reason, []).append(submission.student.id)
    rows = [
        MistakeRow(*reason, len(students), tuple(students))
        for reason, students in met.items()
    ]
    return sorted(rows, key=lambda row: (not row.name, -row.count, row.exercise))


def _help(book: Classbook, judged: float) -> Iterator[HelpRow]:
    """Students to look at, those with the fewest points first."""
    rows = []
    for submission in book.submissions:
        points = _judged(submission, book.exercises)
        reasons = list(_reasons(submission, points, judged, book))
        if reasons:
            rows.append(HelpRow(submission.student.id, points, tuple(reasons)))
    yield from sorted(rows, key=lambda row: (row.points, row.student))


def _reasons(
    submission: Submission, points: float, judged: float, book: Classbook
) -> Iterator[str]:
    if submission.refused:
        yield f"refused: {submission.refused}"
        return
    records = submission.records
    stopped = [n for n, r in records.items() if r.note.startswith("The notebook stopp")]
    if stopped:
        yield f"{records[stopped[0]].note} {len(stopped)} exercises were lost to it."
    if points < BEHIND * judged:
        yield f"less than {BEHIND:.0%} of the points"
        missed = [
            records[e.name] for e in book.exercises
            if e.name in records and records[e.name].points < records[e.name].max_points
        ]  # fmt: skip
        if missed:
            first = missed[0]
            yield (
                f"begins to lose points at {title(book.unit, _grade_id(first))}: "
                f"{first.says or first.note or 'no mistake that has a name'}"
            )


def _grade_id(record: Record) -> str:
    return record.exercise.replace("/", "-")


def _tally(pairs: Iterable[tuple[str, Submission]]) -> tuple[Tally, ...]:
    met: dict[str, list[str]] = {}
    for what, submission in pairs:
        met.setdefault(what, []).append(submission.student.id)
    rows = [Tally(what, len(who), tuple(who)) for what, who in met.items()]
    return tuple(sorted(rows, key=lambda row: (-row.count, row.what)))


# --- what can be shared --------------------------------------------------------------


def _anonymous(overview: Overview) -> Overview:
    """The same without students, and without groups that give somebody away."""
    refused = sum(row.count for row in overview.refused)
    return replace(
        overview,
        mistakes=tuple(_common_mistakes(overview.mistakes)),
        repairs=_common(overview.repairs),
        refused=_common((Tally("could not be read", refused),) if refused else ()),
        levels=_common(overview.levels),
        bands=_wide_bands(overview.bands),
        exercises=tuple(
            replace(row, full=None, part=None, none=None, blank=None, failed=())
            for row in overview.exercises
        ),
    )


def _common_mistakes(rows: Sequence[MistakeRow]) -> Iterator[MistakeRow]:
    """Mistakes with a name that several made; the others of an exercise as one row."""
    common = [row for row in rows if row.name and row.count >= RARE]
    for row in common:
        yield MistakeRow(row.exercise, row.name, row.says, row.count)
    rest: Counter[Any] = Counter()
    for row in rows:
        rest[row.exercise] += 0 if row in common else row.count
    for exercise, count in rest.most_common():
        if count >= RARE:
            yield MistakeRow(exercise, "", "other reasons, each of them rare", count)


def _common(rows: Sequence[Tally]) -> tuple[Tally, ...]:
    """Without names; groups below ``RARE`` together, or not at all."""
    kept = [Tally(row.what, row.count) for row in rows if row.count >= RARE]
    rest = sum(row.count for row in rows if row.count < RARE)
    return (*kept, Tally("others", rest)) if rest >= RARE else tuple(kept)


def _wide_bands(bands: Sequence[Band]) -> tuple[Band, ...]:
    """Neighbouring bands together, until each holds nobody or at least ``RARE``."""
    wide: list[Band] = []
    for band in bands:
        if wide and 0 < wide[-1].count < RARE:
            last = wide.pop()
            band = Band(last.low, band.high, last.count + band.count)
        wide.append(band)
    while len(wide) > 1 and 0 < wide[-1].count < RARE:
        last, before = wide.pop(), wide.pop()
        wide.append(Band(before.low, last.high, before.count + last.count))
    return tuple(wide)


# --- the page and the table ----------------------------------------------------------


def as_html(overview: Overview, today: str) -> str:
    """The report as one page that asks nothing of any network and runs no script."""
    return page.render(
        "class_report.html.j2", overview.unit, report=overview, today=today,
        rare=RARE, weak=WEAK, most=MOST_ROWS,
        names={row.student: row.name for row in overview.students},
    )  # fmt: skip


def as_csv(overview: Overview) -> str:
    """A row for each student; for each exercise in a report that names nobody."""
    rows = _student_table(overview) if overview.named else _exercise_table(overview)
    return sheet.as_text([sheet.harmless(value) for value in row] for row in rows)


def _student_table(overview: Overview) -> Iterator[list[object]]:
    names = [row.name for row in overview.exercises]
    yield [
        "student", "name", "email", "score", "max_score", "waiting", "late_penalty",
        *names, *(f"{name} mistake" for name in names), "refused", "put right",
        "isolation", "seconds",
    ]  # fmt: skip
    for row in overview.students:
        submission, student = row.submission, row.submission.student
        records = submission.records
        yield [
            student.id, row.name, student.email, submission.score, overview.max_points,
            len(submission.waiting), submission.penalty,
            *(submission.points[name] for name in names),
            *(records[n].mistake if n in records else "" for n in names),
            submission.refused, " ".join(says for _, says in submission.repairs),
            submission.level, submission.seconds,
        ]  # fmt: skip


def _exercise_table(overview: Overview) -> Iterator[list[object]]:
    yield [
        "exercise", "title", "max_points", "mean_share", "all_points", "some", "none",
        "waiting",
        "discrimination", "remark", "decided_inside",
    ]  # fmt: skip
    for row in overview.exercises:
        yield [
            row.name, title(overview.unit, row.name), row.max_points, row.mean,
            row.full, row.part, row.none, row.waiting, row.index, row.remark,
            row.inside,
        ]  # fmt: skip


def write(overview: Overview, path: Path, today: str) -> tuple[Path, Path]:
    """Write the page to ``path`` and the table beside it; where they are."""
    table = path.with_suffix(".csv")
    files.write(path, as_html(overview, today))
    files.write(table, as_csv(overview))
    return path, table


def with_before(overview: Overview, path: Path) -> Overview:
    """The same beside the means of an earlier term's shareable table.

    Raises:
        CourseError: the file is no such table.
    """
    table = sheet.read(path)
    try:
        means = {
            table.cell(row, "exercise"): float(table.cell(row, "mean_share") or "nan")
            for row in table.rows
        }
    except ValueError:
        means = {}
    if not means.keys() & {row.name for row in overview.exercises}:
        raise CourseError(f"{path} is not what report --shareable writes of this unit")
    known = {name: mean for name, mean in means.items() if mean == mean}
    rows = tuple(replace(row, before=known.get(row.name)) for row in overview.exercises)
    return replace(overview, exercises=rows)


def make(
    unit: str, root: Path, path: Path, named: bool = True, before: Path | None = None
) -> tuple[Path, Path]:
    """Compute and write the report of the course at ``root``; where page and table are.

    Args:
        before: an earlier term's shareable table, to compare with.

    Raises:
        CourseError: nothing is graded yet, or too little to name nobody.
    """
    similar = None
    if named:
        given = similarity.released(unit, root)
        similar = similarity.compare(similarity.read(unit, root), given)
    book = gradebook.read(unit, root)
    today = f"{datetime.date.today():%d %B %Y}"
    told = overview(book, similar, named)
    return write(with_before(told, before) if before else told, path, today)
