"""Grades for Gradescope: a ``results.json`` for each student."""

from __future__ import annotations

from pathlib import Path

from autograder.classroom import exports
from autograder.classroom.classbook import Classbook
from autograder.course import files
from autograder.extras.hosted import results


def write(book: Classbook, folder: Path) -> tuple[str, ...]:
    """Write ``<student>/results.json`` for each student; returns remarks."""
    for submission in book.submissions:
        text = results.gradescope(book, submission, "panels")
        files.write(folder / submission.student.id / "results.json", text)
    return exports.waiting(book)
