"""The tiny course as it is released, and what rebuilding makes of a submission."""

import nbformat

from autograder.grading.intake import rebuild
from tests.tiny_course import STUB, cell, data, source_notebook


def released() -> nbformat.NotebookNode:
    """The release of the tiny course, without asking nbgrader for it."""
    release = source_notebook()
    for c in release.cells:
        for begin, end, instead in (
            ("### BEGIN SOLUTION", "### END SOLUTION", STUB),
            ("### BEGIN HIDDEN TESTS", "### END HIDDEN TESTS", ""),
        ):
            if begin in c.source:
                before, _, after_begin = c.source.partition(begin)
                c.source = (before + instead + after_begin.partition(end)[2]).rstrip()
    return release


SOURCE, RELEASE = source_notebook(), released()


def graded(submission) -> tuple[nbformat.NotebookNode, list[str]]:
    content = submission if isinstance(submission, bytes) else data(submission)
    notebook, repairs = rebuild(SOURCE, RELEASE, content)
    nbformat.validate(notebook)
    return notebook, [repair.kind for repair in repairs]


def sources(notebook) -> list[str]:
    return [c.source for c in notebook.cells]


def is_solved(notebook) -> bool:
    """Whether both answers are in, in place, behind the course's own tests."""
    names: dict = {}
    try:
        for c in notebook.cells:
            if c.cell_type == "code":
                exec(c.source, names)
    except Exception:
        return False
    tests = ("numbers-double", "numbers-triple")
    return all(cell(notebook, i).source == cell(SOURCE, i).source for i in tests)
