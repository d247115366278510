"""Statistics on a class's attempts: how many until solved, and who is stuck."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from autograder.checks.attempts import AttemptLog, RecordedAttempt
from autograder.classroom.ungraded import folders
from autograder.course import find_unit, grade_ids
from autograder.course.printable import printable
from autograder.extras.attempts import attempt_records
from autograder.grading.checks import reference_metadata
from autograder.grading.titles import number, title

ByStudent = Mapping[str, Sequence[RecordedAttempt]]
STUCK = 5  # attempts without success after which a student is listed


@dataclass(frozen=True)
class StuckStudent:
    """A student with many attempts and no success, and the last mistake recognised."""

    student: str
    attempts: int
    mistake: str


@dataclass(frozen=True)
class ExerciseTries:
    """The attempts of a class at one exercise.

    ``attempts`` and ``minutes`` (from the first attempt to the solution) are
    medians of the students who solved it, or None.
    """

    number: str
    title: str
    tried: int
    solved: int
    attempts: float | None
    minutes: float | None
    stuck: tuple[StuckStudent, ...]


def read(unit: str, root: Path, live: str = "") -> dict[str, AttemptLog]:
    """Map each student to their recorded attempts; those without entries are left out.

    Args:
        live: a pattern for students' folders; "" reads the submissions instead.
    """
    logs = attempt_records.live(live) if live else {
        student: attempt_records.handed_in(folder)
        for student, folder in folders(unit, root).items()
    }  # fmt: skip
    return {
        student: log for student, log in logs.items() if log.attempts or log.unreadable
    }


def describe_unreadable(logs: Mapping[str, AttemptLog]) -> str:
    """A line with the number of entries left out, by student; "" for none."""
    counts = {student: log.unreadable for student, log in logs.items()}
    damaged = [f"{printable(name)} ({n})" for name, n in counts.items() if n]
    if not damaged:
        return ""
    return f"entries that cannot be read are left out: {', '.join(damaged)}"


def table(unit: str, by_student: ByStudent) -> list[ExerciseTries]:
    """Summarise the attempts at each exercise that anybody tried, and who is stuck.

    Each student's attempts must be in chronological order.
    """
    rows = []
    for exercise in reference_metadata.titles(find_unit(unit).name):
        cell, tried = grade_ids.of_check(exercise), 0
        spent, stuck = [], list[StuckStudent]()
        for student, attempts in by_student.items():
            relevant = [attempt for attempt in attempts if attempt.exercise == exercise]
            tried += bool(relevant)
            first = next(
                (n for n, attempt in enumerate(relevant) if attempt.share >= 1), None
            )
            if first is not None:
                duration = relevant[first].moment - relevant[0].moment
                spent.append((first + 1, duration.total_seconds() / 60))
            elif len(relevant) >= STUCK:
                named = next((a.mistake for a in reversed(relevant) if a.mistake), "")
                stuck.append(StuckStudent(printable(student), len(relevant), named))
        if tried:
            columns = zip(*spent, strict=True)
            counts, minutes = map(median, columns) if spent else (None, None)
            rows.append(ExerciseTries(
                number(unit, cell), title(unit, cell), tried, len(spent), counts,
                minutes, tuple(sorted(stuck, key=lambda student: -student.attempts)),
            ))  # fmt: skip
    return rows


def as_text(rows: Sequence[ExerciseTries]) -> str:
    """Format the rows of `table` for a terminal, with the students who are stuck."""
    lines = ["solved  attempts  minutes  exercise"]
    for row in rows:
        attempts = "-" if row.attempts is None else f"{row.attempts:g}"
        minutes = "-" if row.minutes is None else f"{row.minutes:.0f}"
        solved = f"{row.solved}/{row.tried}"
        name = f"{row.number} {row.title}".strip()
        lines.append(f"{solved:>6}  {attempts:>8}  {minutes:>7}  {name}")
        lines += [
            f"{'':>25}  stuck: {stuck.student}, {stuck.attempts} attempts"
            + (f", last mistake {stuck.mistake}" if stuck.mistake else "")
            for stuck in row.stuck
        ]
    return "\n".join(lines)
