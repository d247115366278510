"""The class at a glance: a line for each student."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from autograder.course import Unit, grade_ids, graded_notebooks, notebooks
from autograder.grading import metadata
from autograder.grading.judge.verdict import Verdict
from autograder.grading.metadata import GradingMetadata


@dataclass(frozen=True)
class Row:
    """One student's verdicts by exercise, and what had to be repaired or refused."""

    student: str
    records: dict[str, Verdict]
    remarks: tuple[str, ...] = ()

    @property
    def points(self) -> float:
        return sum(record.points for record in self.records.values())


def read(unit: Unit, root: Path) -> list[Row]:
    """The rows of all graded submissions of a unit in the course at ``root``."""
    return [_row(path) for path in graded_notebooks(unit.label, root)]


def _row(path: Path) -> Row:
    known = GradingMetadata.of(metadata.read(path))
    remarks = tuple(repair.says for repair in known.repairs)
    records = {record.exercise: record for record in known.checks.values()}
    return Row(path.parts[-3], records, remarks)


def exercises(unit: Unit) -> list[str]:
    """The judged exercises of a unit in the order of its notebook."""
    notebook = notebooks.read(unit.source)
    return [
        grade_ids.exercise_of(cell.metadata.nbgrader.grade_id)
        for cell in notebook.cells
        if cell.metadata.get("nbgrader", {}).get("locked")
    ]


def as_text(unit: Unit, rows: Sequence[Row]) -> str:
    """A line for each student: points, and what is worth a look."""
    names = exercises(unit)
    width = max((len(row.student) for row in rows), default=0)
    most = max(
        (sum(r.max_points for r in row.records.values()) for row in rows), default=0
    )
    lines = [
        f"{unit.label}: {len(rows)} students, {len(names)} exercises, {most:g} points"
    ]
    for row in rows:
        remarks = "; ".join(_remarks(names, row))
        lines.append(f"  {row.student:<{width}}  {row.points:>5g}   {remarks}".rstrip())
    return "\n".join(lines)


def _remarks(names: Sequence[str], row: Row) -> Iterator[str]:
    """What cost a student points, and what was repaired."""
    missing = sum(name not in row.records for name in names)
    lost = [r for r in row.records.values() if r.points < r.max_points]
    named = sum(bool(record.mistake) for record in lost)
    if lost:
        below = "1 exercise" if len(lost) == 1 else f"{len(lost)} exercises"
        yield f"{below} below full points, {named} named"
    if missing:
        yield f"{missing} not graded"
    yield from row.remarks
