"""The class report: an analysis of a unit's grades, as a page and as a table.

``overview`` computes everything, and the template only formats it. What it computes for
a shareable report holds no students' names, so the page cannot show them.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from autograder import seams
from autograder.classroom import gradebook, page
from autograder.classroom.report.items import WEAK, with_before
from autograder.classroom.report.overview import overview
from autograder.classroom.report.rows import Overview
from autograder.classroom.report.shareable import RARE
from autograder.classroom.ungraded import ungraded
from autograder.course import graded_notebooks, sheet
from autograder.course.errors import CourseError
from autograder.grading.gradebook import changes
from autograder.grading.titles import title

MOST_ROWS = 30  # shown of a list whose length depends on the class


def as_html(overview: Overview) -> str:
    """The report as one page, which loads nothing from a network and runs no script."""
    return page.render(
        "class_report.html.j2", overview.unit, report=overview, rare=RARE, weak=WEAK,
        most=MOST_ROWS,
        names={row.student.id: row.student.name for row in overview.students},
    )  # fmt: skip


def as_csv(overview: Overview) -> str:
    """A row for each student, or for each exercise in a report without names."""
    rows = _student_table(overview) if overview.named else _exercise_table(overview)
    return sheet.as_harmless_text(rows)


def _student_table(overview: Overview) -> Iterator[list[object]]:
    """Yield the head and the rows of the CSV table with a row for each student."""
    names = [row.name for row in overview.exercises]
    yield [
        "student", "name", "email", "score", "max_score", "waiting", "late_penalty",
        *names, *(f"{name} mistake" for name in names), "refused", "put right",
        "isolation", "seconds",
    ]  # fmt: skip
    for row in overview.students:
        student, records = row.student, row.records
        yield [
            student.id, student.name, student.email, row.score, overview.max_points,
            len(row.waiting), row.penalty, *(row.points[name] for name in names),
            *(records[n].mistake if n in records else "" for n in names),
            row.refused, " ".join(sentence for _, sentence in row.repairs), row.level,
            row.seconds,
        ]  # fmt: skip


def _exercise_table(overview: Overview) -> Iterator[list[object]]:
    """Yield the head and the rows of the CSV table with a row for each exercise."""
    yield [
        "exercise", "title", "max_points", "mean_share", "waiting",
        "discrimination", "remark", "decided_inside",
    ]  # fmt: skip
    for row in overview.exercises:
        yield [
            row.name, title(overview.unit, row.name), row.max_points, row.mean,
            row.waiting, row.index, row.remark, row.decided_inside,
        ]  # fmt: skip


def make(
    unit: str, root: Path, path: Path, named: bool = True, before: Path | None = None
) -> list[Path]:
    """Compute and write the report of a unit; return the paths of page and table.

    Args:
        named: whether the report names students; otherwise it can be shared.
        before: an earlier term's shareable table, to compare with.

    Raises:
        CourseError: nothing is graded yet, or too little for a report without names.
    """
    book = gradebook.read(unit, root)
    if not graded_notebooks(unit, root):  # the verdicts are stored in these
        raise CourseError(f"nothing is graded yet; run: nbgrader autograde {unit}")
    extras = seams.modules("report") if named else []
    sections = [extra.section(book, root) for extra in extras]
    all_changes = changes.read(root, unit) if named else []
    changed = [change for change in all_changes if change.is_told]
    class_report = overview(book, sections, named, ungraded(book, root), changed)
    if before:
        class_report = with_before(class_report, before)
    return page.write_both(path, as_html(class_report), as_csv(class_report))
