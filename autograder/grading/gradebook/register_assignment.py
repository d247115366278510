"""Add an existing release to the gradebook, so that it can be graded at once.

``nbgrader generate_assignment`` does this only for a release that it makes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import nbformat
from nbformat import NotebookNode
from nbgrader import api
from nbgrader.converters import GenerateAssignment
from traitlets.config import Config

from autograder.course.errors import CourseError
from autograder.grading.gradebook.book import Gradebook, sharing

# Notebook name -> the texts of source and release.
Notebooks = Mapping[str, tuple[str, str]]


def register(
    book: Gradebook, assignment: str, notebooks: Notebooks, config: Config
) -> bool:
    """Add an assignment to the gradebook; return False if it was already there.

    Args:
        notebooks: the texts of source and release, by the notebook's name.

    Raises:
        CourseError: the release is not what nbgrader makes of the source now.
    """
    try:
        registered = book.find_assignment(assignment)
        # An entry that only holds a due date, for example, is completed.
        if registered.notebooks or registered.submissions:
            return False
    except api.MissingEntry:
        book.update_or_create_assignment(assignment)
    stages = GenerateAssignment(config=config).preprocessors
    with sharing(book, stages):
        for name, (source, release) in notebooks.items():
            notebook = nbformat.reads(source, as_version=4)
            resources = {
                "nbgrader": {
                    "assignment": assignment, "notebook": name, "student": ".",
                    "db_url": "",
                },
            }  # fmt: skip
            # One of the stages enters the cells into the gradebook.
            for stage in stages:
                notebook, resources = stage(config=config)(notebook, resources)
            if _graded(notebook) != _graded(nbformat.reads(release, as_version=4)):
                raise CourseError(
                    f'the release of "{name}" does not match its source; run: '
                    f'nbgrader generate_assignment "{assignment}" --force'
                )
    book.finish()
    return True


def _graded(notebook: NotebookNode) -> list[tuple[str, Mapping[str, Any]]]:
    """The cells that nbgrader knows, each as its text and nbgrader's metadata."""
    return [
        (cell.source, cell.metadata["nbgrader"])
        for cell in notebook.cells
        if "nbgrader" in cell.metadata
    ]
