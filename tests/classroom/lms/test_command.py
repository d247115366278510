"""`autograder collect`, and what is graded of it."""

from __future__ import annotations

import io
import json
import os
import zipfile
from datetime import datetime

import pytest
from nbgrader.api import Gradebook

from autograder import cli
from autograder.classroom.lms.roster import from_csv
from autograder.course.errors import CourseError
from tests import tiny_course as tiny
from tests.classroom.conftest import autograde
from tests.classroom.lms.course import BOB, GOOD


def test_the_command_prints_a_table_and_its_status_asks_for_a_person(course, capsys):
    path = course.zip(GOOD, ("nobodyno_999_1_a.ipynb", BOB))
    command = ["collect", "01", str(path), "--course", str(course.root)]
    roster = ["--roster", str(course.root / "roster.csv")]
    assert cli.main([*command, *roster]) == 1
    out = capsys.readouterr().out
    assert "nobodyno (999) is not on the roster" in out
    assert "1 placed" in out and "1 not placed" in out
    only = course.zip(GOOD)
    assert cli.main([*command[:2], str(only), *command[3:], *roster]) == 0


def test_a_group_of_graders_can_write_what_one_of_them_collects(course):
    course.root.chmod(0o2770)
    path, before = course.zip(GOOD), os.umask(0o077)
    try:
        where = ["--course", str(course.root)]
        roster = ["--roster", str(course.root / "roster.csv")]
        assert cli.main(["collect", "01", str(path), *where, *roster]) == 0
    finally:
        os.umask(before)
    folder = course.root / "submitted" / "ada" / tiny.UNIT
    for made in (folder, folder.parent):
        assert made.stat().st_mode & 0o2070 == 0o2070
    assert (folder / f"{tiny.UNIT}.ipynb").stat().st_mode & 0o060 == 0o060


def test_bad_options_are_said_in_one_line(course, capsys):
    command = ["collect", "01", "x.zip", "--course", str(course.root)]
    for option, status, text in (
        (["--timezone", "Mars/Base"], 2, "no time zone"),
        (["--lms", "webct"], 2, "--lms must be one of canvas, moodle"),
        (["--roster", "nowhere.csv"], 1, "No such file"),
    ):
        assert cli.main([*command, *option]) == status
        assert text in capsys.readouterr().err
    (course.root / "bad.csv").write_text("name\nAda\n")
    with pytest.raises(CourseError, match='no column "id"'):
        from_csv(course.root / "bad.csv")


def test_the_gradebook_is_the_roster_where_none_is_given(graded, capsys):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as file:
        file.writestr("rossbob_502_1_a.ipynb", json.dumps({"cells": []}))
    (graded / "x.zip").write_bytes(buffer.getvalue())
    command = ["collect", "01", str(graded / "x.zip"), "--course", str(graded)]
    cli.main([*command, "--replace"])
    assert "bob" in capsys.readouterr().out
    assert list((graded / "submitted" / "bob").rglob("*.ipynb"))


def test_what_is_collected_is_graded_with_the_time_of_the_archive(graded, capsys):
    """From a Brightspace zip to a Canvas gradebook, 90 minutes after the deadline."""
    notebook = tiny.data(tiny.solved(tiny.read(graded, "release")))
    path = graded / "x.zip"
    with zipfile.ZipFile(path, "w") as file:
        name = "509-1 - Nie Mand - Nov 20, 2025 1130 PM - Copy of numbers (1).ipynb"
        file.writestr(name, notebook)
    with Gradebook(f"sqlite:///{graded}/gradebook.db", "tiny") as book:
        book.find_assignment(tiny.UNIT).duedate = datetime(2025, 11, 20, 21, 0)
        book.db.commit()
    where = ["--course", str(graded)]
    zone = ["--timezone", "Europe/Berlin"]
    assert cli.main(["collect", "01", str(path), *where, *zone]) == 0
    assert autograde(graded, "never")["success"]
    with Gradebook(f"sqlite:///{graded}/gradebook.db", "tiny") as book:
        book.find_grade("numbers-why", tiny.UNIT, tiny.UNIT, "never").manual_score = 4
        book.db.commit()
    (graded / "canvas.csv").write_text(
        'Student,ID,Section,Numbers (1)\n"Mand, Nie",509,A,\n'
    )
    into = ["--into", str(graded / "canvas.csv")]
    cli.main(["grades", "01", "--format", "canvas", *into, *where])
    filled = (graded / "reports" / "01_numbers-canvas.csv").read_text()
    assert '"Mand, Nie",509,A,8\n' in filled, "6 + 4, two begun hours late"
