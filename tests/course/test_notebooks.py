"""A damaged notebook of the course is one line that says how to get it back."""

from __future__ import annotations

from pathlib import Path

import pytest

from autograder import cli
from autograder.classroom import requests
from autograder.course import notebooks
from autograder.course.errors import CourseError
from autograder.grading import release as course_release
from tests import tiny_course as tiny
from tests.classroom.conftest import WHOLE, autograde, graded, graded_once
from tests.tiny_course import UNIT, run_nbgrader

__all__ = ["graded", "graded_once"]  # fixtures

DAMAGED = {
    "empty": b"",
    "cut off": b'{"cells": [{"cell_type": "mark',
    "no object": b"[1]",
    "no notebook": b'{"a": 1}',
    "no cells": b'{"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [3]}',
    "no text": b"\xff\xfe\x00",
}


@pytest.mark.parametrize("data", DAMAGED.values(), ids=DAMAGED)
@pytest.mark.parametrize(
    ("folder", "remedy"),
    [
        ("source/02_attention", "git checkout source/02_attention"),
        ("release/02_attention", "nbgrader generate_assignment 02_attention --force"),
        ("autograded/ada/02_attention", "autograde 02_attention --student=ada --force"),
    ],
)
def test_a_damaged_notebook_is_one_line_with_its_remedy(tmp_path, data, folder, remedy):
    path = tmp_path / folder / "02_attention.ipynb"
    path.parent.mkdir(parents=True)
    path.write_bytes(data)
    with pytest.raises(CourseError) as caught:
        notebooks.read(path)
    (line,) = str(caught.value).splitlines()
    assert line.startswith(f"{path} is ") and line.endswith(remedy)


def test_a_folder_in_its_place_and_none_at_all_are_said(tmp_path):
    path = tmp_path / "source" / "02_attention" / "02_attention.ipynb"
    with pytest.raises(CourseError, match=r"No such file .*git checkout source/02"):
        notebooks.read(path)
    path.mkdir(parents=True)
    with pytest.raises(CourseError, match="Is a directory; remove it, then: git"):
        notebooks.read_valid_text(path)


def test_a_notebook_is_read_and_copied_as_it_is(tmp_path):
    path = tmp_path / "x.ipynb"
    path.write_bytes(tiny.data(tiny.source_notebook()))
    assert notebooks.read(path) == tiny.source_notebook()
    assert notebooks.read_valid_text(path).encode() == path.read_bytes()


COMMANDS = {
    "source": [
        ["grades", "01", "--format", "moodle"],
        ["report", "01"],
        ["report", "--all"],
        ["written", "01"],
        ["regrade", "01", WHOLE, "double"],
    ],
    "release": [["similarity", "01"]],
    f"autograded/{WHOLE}": [
        ["grades", "01", "--format", "moodle"],
        ["report", "01"],
        ["similarity", "01"],
        ["written", "01"],
        ["leaderboard", "01"],
    ],
}


@pytest.mark.parametrize(
    ("folder", "command"),
    [
        (folder, command)
        for folder, commands in COMMANDS.items()
        for command in commands
    ],
)
def test_each_command_ends_in_that_line(graded, capsys, folder, command):
    config = 'c = get_config()\nc.CourseDirectory.course_id = "tiny"\n'
    (graded / "nbgrader_config.py").write_text(config)
    source = graded / "source" / UNIT / f"{UNIT}.ipynb"
    if command[0] == "leaderboard":  # which only a unit with a place for a name has
        source.write_text(source.read_text().replace("import math", "LEADERBOARD_NAME"))
    path = graded / folder / UNIT / f"{UNIT}.ipynb"
    for data in (b"", b"[1]"):
        path.write_bytes(data)
        assert cli.main([*command, "--course", str(graded)]) == 1
        (line,) = capsys.readouterr().err.splitlines()
        assert str(path) in line and not (graded / "reports").exists()


@pytest.mark.parametrize("folder", ["source", "release"])
def test_grading_stops_before_anything_is_graded(graded, folder):
    before = {path: path.read_bytes() for path in graded.glob("autograded/*/*/*")}
    path = graded / folder / UNIT / f"{UNIT}.ipynb"
    path.write_bytes(b"")
    result = autograde(graded)
    assert not result["success"]
    assert f"{path} is empty; " in result["log"] and "Traceback" not in result["log"]
    after = {path: path.read_bytes() for path in graded.glob("autograded/*/*/*")}
    assert after == before


@pytest.mark.parametrize("folder", ["source", "release"])
def test_a_release_stays_when_a_notebook_is_damaged(graded, folder):
    path = graded / folder / UNIT / f"{UNIT}.ipynb"
    path.write_bytes(b"")
    release = graded / "release" / UNIT / f"{UNIT}.ipynb"
    before = release.read_bytes()
    course_release.install()
    result = run_nbgrader(graded, "generate_assignment", UNIT, force=False)
    assert not result["success"] and release.read_bytes() == before
    errors = [line for line in result["log"].splitlines() if "ERROR" in line]
    assert len(errors) == 1 and f"{path} is empty; " in errors[0]


@pytest.mark.slow  # with a process that is pretended: classroom/test_requests.py
def test_a_regrade_that_failed_is_no_evidence(graded):
    with pytest.raises(CourseError, match="was not graded again"):
        requests.regrade("07_nowhere", graded, WHOLE)


def test_the_way_back_is_told_by_the_folder_and_not_by_where_the_course_lies():
    course = Path("/srv/release/autograded")
    remedies = {
        course / "source" / UNIT: f"git checkout source/{UNIT}",
        course / "release" / UNIT: f"nbgrader generate_assignment {UNIT} --force",
        course / "autograded" / "ada" / UNIT: f"autograde {UNIT} --student=ada --force",
    }
    for folder, remedy in remedies.items():
        assert notebooks.remedy(folder / f"{UNIT}.ipynb").endswith(remedy)
