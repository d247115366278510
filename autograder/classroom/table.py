"""The class at a glance: students by exercises, with points and named mistakes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from autograder.classroom import noted
from autograder.course import Unit, grade_ids, graded_notebooks, notebooks
from autograder.grading.judge.record import Record


@dataclass(frozen=True)
class Row:
    """One student's verdicts by exercise, and what had to be repaired or refused."""

    student: str
    records: dict[str, Record]
    remarks: tuple[str, ...] = ()

    @property
    def points(self) -> float:
        return sum(record.points for record in self.records.values())


def read(unit: Unit, root: Path) -> list[Row]:
    """The rows of all graded submissions of a unit in the course at ``root``."""
    return [_row(path) for path in graded_notebooks(unit.label, root)]


def _row(path: Path) -> Row:
    note = noted.note_of(noted.read(path))
    records = noted.records(note).values()
    remarks = tuple(repair["says"] for repair in note.get("repairs", ()))
    return Row(path.parts[-3], {r.exercise: r for r in records}, remarks)


def exercises(unit: Unit) -> list[str]:
    """The judged exercises of a unit in the order of its notebook."""
    notebook = notebooks.read(unit.source)
    return [
        grade_ids.exercise_of(cell.metadata.nbgrader.grade_id)
        for cell in notebook.cells
        if cell.metadata.get("nbgrader", {}).get("locked")
    ]


def as_text(unit: Unit, rows: Sequence[Row]) -> str:
    """The table as plain text, with a line below it for each mistake."""
    names = exercises(unit)
    width = max((len(row.student) for row in rows), default=7) + 2
    lines = [f"{unit.label}"]
    lines += [f"  {i}  {name}" for i, name in enumerate(names, 1)]
    lines.append(" " * width + "".join(f"{i:>7}" for i in range(1, len(names) + 1))
                 + "    total")  # fmt: skip
    for row in rows:
        cells = "".join(f"{_points(row.records.get(name)):>7}" for name in names)
        lines.append(f"{row.student:<{width}}{cells}  {row.points:>7g}")
    return "\n".join([*lines, "", *_misses(names, rows)])


def _points(record: Record | None) -> str:
    return "-" if record is None else f"{record.points:g}"


def _misses(names: Sequence[str], rows: Sequence[Row]) -> list[str]:
    lines = []
    for row in rows:
        for name in names:
            record = row.records.get(name)
            if record and record.points < record.max_points:
                lines.append(f"  {row.student}, {name}: {why(record)}")
    return lines


def why(record: Record) -> str:
    """In one line, what cost a record its points."""
    if record.says:
        return f"[{record.mistake}] {record.says}"
    failed = [case.title for case in record.cases if case.problem]
    return record.note or f"no known mistake; fails: {', '.join(failed)}"
