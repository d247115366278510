"""A course of one's own begins with seven files, and grades a sample class at once."""

from __future__ import annotations

import subprocess

import pytest

from autograder import cli
from autograder.authoring import notebook
from autograder.authoring.start_course import start, start_unit
from autograder.course import ROOT, Unit
from autograder.course.errors import CourseError


@pytest.fixture
def folder(tmp_path):
    start(tmp_path / "signals", "Signal processing")
    return tmp_path / "signals"


def test_it_has_seven_files_and_is_committed(folder):
    files = [p for p in folder.rglob("*") if p.is_file() and ".git" not in p.parts]
    assert len(files) == 7
    assert 'title = "Signal processing"' in (folder / "course.toml").read_text()
    log = ["git", "status", "--porcelain"]
    assert not subprocess.run(log, cwd=folder, capture_output=True, check=True).stdout


def test_its_notebook_and_settings_are_read_as_the_engine_reads_them(folder):
    (check,) = [
        c for c in notebook.read(Unit("01", "first", folder)) if c.role == "check"
    ]
    assert check.points == 100
    settings = (folder / "nbgrader_config.py").read_text(encoding="utf-8")
    assert settings == (ROOT / "nbgrader_config.py").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("name", "says"),
    [("signals", "is not empty"), ("2026", "begins with a letter")],
)
def test_a_folder_that_cannot_be_a_course_is_one_line(folder, capsys, name, says):
    assert cli.main(["init", str(folder.parent / name)]) == 1
    error = capsys.readouterr().err
    assert says in error and error.count("\n") == 1


def test_a_name_that_something_installed_has_is_not_taken(tmp_path):
    start(tmp_path / "numpy")
    assert (tmp_path / "numpy" / "numpy_course" / "first").is_dir()


def test_a_unit_comes_after_the_last_one_or_has_its_own_number(folder):
    assert start_unit("second", folder).name == "02_second.py"
    assert start_unit("07_third", folder).name == "07_third.py"
    for name in ("Third", "07_other", "second"):
        with pytest.raises(CourseError):
            start_unit(name, folder)
