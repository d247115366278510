"""The class at a glance: a line for each student."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from autograder.classroom.classbook import Classbook, Submission


def as_text(book: Classbook) -> str:
    """A line for each student: points, and what is worth a look."""
    rows = book.submissions
    names = [exercise.name for exercise in book.exercises if not exercise.written]
    width = max(len(row.student.id) for row in rows)
    most = max(sum(r.max_points for r in row.records.values()) for row in rows)
    lines = [
        f"{book.unit}: {len(rows)} students, {len(names)} exercises, {most:g} points"
    ]
    for row in rows:
        points = sum(record.points for record in row.records.values())
        remarks = "; ".join(_remarks(names, row))
        lines.append(f"  {row.student.id:<{width}}  {points:>5g}   {remarks}".rstrip())
    return "\n".join(lines)


def _remarks(names: Sequence[str], row: Submission) -> Iterator[str]:
    """What cost a student points, and what was repaired."""
    missing = sum(name not in row.records for name in names)
    lost = [r for r in row.records.values() if r.points < r.max_points]
    named = sum(bool(record.mistake) for record in lost)
    if lost:
        below = "1 exercise" if len(lost) == 1 else f"{len(lost)} exercises"
        yield f"{below} below full points, {named} named"
    if missing:
        yield f"{missing} not graded"
    yield from (says for _, says in row.repairs)
