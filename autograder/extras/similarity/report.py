"""The section of the class report on similar solutions."""

from __future__ import annotations

from pathlib import Path

from autograder.classroom import answers, page
from autograder.classroom.classbook import Classbook
from autograder.classroom.report.rows import ExtraSection
from autograder.extras.similarity import TEMPLATES, similarity
from autograder.extras.similarity.similarity import Comparison


def section(book: Classbook, root: Path) -> ExtraSection:
    """Make the class report's section on the most similar pairs of solutions.

    Raises:
        CourseError: nothing is graded or released yet, or a notebook is unreadable.
    """
    release_code = similarity.released(book.unit, root)
    names = {s.student.id: s.student.name for s in book.submissions}
    comparison = similarity.compare(answers.read(book.unit, root), release_code)
    return as_section(book.unit, comparison, names)


def as_section(
    unit: str, comparison: Comparison, names: dict[str, str]
) -> ExtraSection:
    """Make the section of the report from a finished comparison of all solutions.

    ``names`` maps the students' ids to the names that are shown beside them.
    """
    html = page.render(
        "similar.html.j2", unit, folder=TEMPLATES, similar=comparison, names=names
    )
    return ExtraSection("similar", "Similar solutions", html)
