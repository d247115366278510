"""Brightspace's archives say when each file was handed in."""

from __future__ import annotations

import zipfile
from datetime import datetime

import pytest
from nbgrader.api import Gradebook

from autograder import cli
from tests import tiny_course as tiny
from tests.classroom.conftest import autograde
from tests.classroom.lms.course import ADA, BOB, EARLY, LATER


@pytest.mark.parametrize("between", [" - ", "/"])
def test_brightspace(course, between):
    prefix = "12345-789012 - Ada Lovelace - Nov 20, 2026 203 PM"
    assert set(course.collect(course.zip((f"{prefix}{between}a.ipynb", ADA)))) == {
        "ada"
    }
    assert course.time("ada") == "2026-11-20 13:03:00"


def test_times_of_handing_in_decide(course):
    name = "12345-1 - Ada Lovelace - Nov {}, 2026 203 PM - a.ipynb"
    late = course.zip((name.format(21), ADA), time=EARLY)
    early = course.zip((name.format(20), BOB), time=LATER)
    course.collect(late)
    assert course.collect(early)["ada"].status == "older"
    assert course.notebook("ada") == ADA


def test_what_is_collected_is_graded_with_the_time_of_the_archive(graded, capsys):
    """From a Brightspace zip to a Canvas gradebook, 90 minutes after the deadline."""
    notebook = tiny.data(tiny.solve_release(tiny.read(graded, "release")))
    path = graded / "x.zip"
    with zipfile.ZipFile(path, "w") as file:
        name = "509-1 - Nie Mand - Nov 20, 2025 1130 PM - Copy of numbers (1).ipynb"
        file.writestr(name, notebook)
    with Gradebook(f"sqlite:///{graded}/gradebook.db", "tiny") as book:
        book.find_assignment(tiny.UNIT).duedate = datetime(2025, 11, 20, 21, 0)
        book.db.commit()
    option = ["--course", str(graded)]
    zone = ["--timezone", "Europe/Berlin"]
    assert cli.main(["collect", "01", str(path), *option, *zone]) == 0
    assert autograde(graded, "never")["success"]
    with Gradebook(f"sqlite:///{graded}/gradebook.db", "tiny") as book:
        book.find_grade("numbers-why", tiny.UNIT, tiny.UNIT, "never").manual_score = 4
        book.db.commit()
    (graded / "canvas.csv").write_text(
        'Student,ID,Section,Numbers (1)\n"Mand, Nie",509,A,\n'
    )
    into = ["--into", str(graded / "canvas.csv")]
    cli.main(["grades", "01", "--format", "canvas", *into, *option])
    filled = (graded / "reports" / "01_numbers-canvas.csv").read_text()
    assert '"Mand, Nie",509,A,8\n' in filled, "6 + 4, two begun hours late"
