"""The written question of a small graded class, as a table to be filled in."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest

from autograder import cli
from autograder.classroom import gradebook
from autograder.grading.gradebook import hand_log
from tests.tiny_course import UNIT

NAME = "numbers-why"


@pytest.fixture
def question_table(graded) -> Path:
    """The table of the course's one question, to be filled in."""
    hand_log.install()  # as the configuration of a course does
    assert cli.main(["written", "01", "--course", str(graded)]) == 0
    return graded / "reports" / f"{UNIT}-{NAME}.csv"


def fill(path: Path, student: str, **cells: str) -> None:
    rows = list(csv.DictReader(io.StringIO(path.read_text())))
    for row in rows:
        if row["student"] == student:
            row.update(cells)
    with path.open("w", newline="") as file:
        table = csv.DictWriter(file, rows[0])
        table.writeheader()
        table.writerows(rows)


def score(root, student: str) -> float | None:
    book = gradebook.read(UNIT, root)
    (submission,) = (s for s in book.submissions if s.student.id == student)
    return submission.points[NAME]
