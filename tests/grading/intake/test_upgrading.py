"""A notebook of one version of the course, graded by another (docs/adopting.md)."""

from __future__ import annotations

import copy

import nbformat

from autograder.grading.intake import rebuild
from tests.grading.intake.released import RELEASE, SOURCE, graded
from tests.tiny_course import DOUBLE, STUB, TRIPLE, cell, data, solve_release

LATER = ("numbers-triple-answer", "numbers-triple")


def without_the_later(notebook: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """The notebook as it was before an exercise was added."""
    older = copy.deepcopy(notebook)
    older.cells = [c for c in older.cells if c.id not in LATER]
    return older


def test_an_older_notebook_keeps_its_answers_and_is_blank_where_it_has_none():
    notebook, repairs = graded(without_the_later(solve_release(RELEASE)))
    assert cell(notebook, "numbers-double-answer").source == DOUBLE
    assert STUB in cell(notebook, "numbers-triple-answer").source
    assert [c.id for c in notebook.cells] == [c.id for c in SOURCE.cells]
    assert repairs == ["test returned", "answer missing"]


def test_what_an_older_grader_does_not_know_runs_and_is_not_graded():
    older = without_the_later(SOURCE), without_the_later(RELEASE)
    notebook, _ = rebuild(*older, data(solve_release(RELEASE)))
    assert cell(notebook, "numbers-double-answer").source == DOUBLE
    extra = [c for c in notebook.cells if TRIPLE in c.source]
    assert len(extra) == 1 and "nbgrader" not in extra[0].metadata
