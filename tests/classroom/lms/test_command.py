"""`autograder collect`, and what is graded of it."""

from __future__ import annotations

import io
import json
import os
import zipfile

import pytest

from autograder import cli
from autograder.classroom.lms.roster import from_csv
from autograder.course.errors import CourseError
from tests import tiny_course as tiny
from tests.classroom.lms.course import BOB, GOOD


def test_the_command_prints_a_table_and_its_status_asks_for_a_person(course, capsys):
    path = course.zip(GOOD, ("nobodyno_999_1_a.ipynb", BOB))
    command = ["collect", "01", str(path), "--course", str(course.root)]
    roster = ["--roster", str(course.root / "roster.csv")]
    assert cli.main([*command, *roster]) == 1
    out = capsys.readouterr().out
    assert "nobodyno (999) is not on the roster" in out
    assert "1 placed" in out and "1 not placed" in out
    archive = course.zip(GOOD)
    assert cli.main([*command[:2], str(archive), *command[3:], *roster]) == 0


def test_a_group_of_graders_can_write_what_one_of_them_collects(course):
    course.root.chmod(0o2770)
    path, before = course.zip(GOOD), os.umask(0o077)
    try:
        option = ["--course", str(course.root)]
        roster = ["--roster", str(course.root / "roster.csv")]
        assert cli.main(["collect", "01", str(path), *option, *roster]) == 0
    finally:
        os.umask(before)
    folder = course.root / "submitted" / "ada" / tiny.UNIT
    for directory in (folder, folder.parent):
        assert directory.stat().st_mode & 0o2070 == 0o2070
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
    for table in ("name\nAda\n", "id,first_name\n", "id,first_name\n,Ada\n"):
        (course.root / "bad.csv").write_text(table)
        with pytest.raises(CourseError, match='no row has an "id"; columns: id, first'):
            from_csv(course.root / "bad.csv")


@pytest.mark.parametrize("zone", ["", "Europe/Berlin"])
def test_it_says_that_it_read_times_in_this_computer_s_zone(course, capsys, zone):
    path = course.zip(("Ada Lovelace_7_assignsubmission_file_/a.ipynb", BOB))
    worksheet = course.root / "worksheet.csv"
    worksheet.write_text(
        "Identifier,Full name,Last modified (submission)\n"
        'Participant 7,Ada Lovelace,"Sunday, 30 November 2025, 11:59 PM"\n'
    )
    command = ["collect", "01", str(path), "--course", str(course.root)]
    files = ["--roster", str(course.root / "roster.csv"), "--worksheet", str(worksheet)]
    zones = ["--timezone", zone] if zone else []
    assert cli.main([*command, *files, *zones]) == 0
    assert ("computer's zone" in capsys.readouterr().out) == (not zone)


def test_the_gradebook_is_the_roster_where_none_is_given(graded, capsys):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as file:
        file.writestr("rossbob_502_1_a.ipynb", json.dumps({"cells": []}))
    (graded / "x.zip").write_bytes(buffer.getvalue())
    command = ["collect", "01", str(graded / "x.zip"), "--course", str(graded)]
    cli.main([*command, "--replace"])
    assert "bob" in capsys.readouterr().out
    assert list((graded / "submitted" / "bob").rglob("*.ipynb"))
