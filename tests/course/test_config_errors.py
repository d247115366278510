"""A slip of the pen in nbgrader_config.py never means grading without sandboxes."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from autograder import cli
from autograder.course import ROOT
from tests.tiny_course import make_course

HOOK = ROOT / "deploy" / "environment"  # what pip puts into etc/jupyter


@pytest.fixture
def course(tmp_path) -> Path:
    """A folder with the course's settings, and a submission that says if it is run."""
    folder = tmp_path / "submitted" / "ada" / "02_attention"
    folder.mkdir(parents=True)
    (folder / "02_attention.ipynb").write_text("{}")
    settings = ROOT / "nbgrader_config.py"
    (tmp_path / settings.name).write_bytes(settings.read_bytes())
    return tmp_path


def nbgrader(course: Path, *command: str) -> tuple[int, list[str]]:
    process = subprocess.run(
        [sys.executable, "-m", "nbgrader", *command],
        cwd=course,
        env=os.environ | {"JUPYTER_CONFIG_PATH": str(HOOK)},
        capture_output=True,
        text=True,
        check=False,
    )
    return process.returncode, process.stderr.splitlines()


def append(course: Path, line: str) -> None:
    with (course / "nbgrader_config.py").open("a") as file:
        file.write(f"{line}\n")


@pytest.mark.parametrize(
    ("step", "line", "message"),
    [
        ("autograde", "c.JudgedExecute.timeout = (", "'(' was never closed."),
        pytest.param(
            "generate_feedback",
            "d.JudgedExecute.timeout = 5",
            "'d' is not defined.",
            marks=pytest.mark.slow,
        ),
    ],
)
def test_the_command_ends_with_the_line_that_is_broken(course, step, line, message):
    number = (course / "nbgrader_config.py").read_text().count("\n") + 1
    append(course, line)
    status, (printed_line,) = nbgrader(course, step, "02_attention")
    assert status == 1 and message in printed_line
    assert f".py, line {number}: " in printed_line
    assert sorted(os.listdir(course)) == ["nbgrader_config.py", "submitted"]


def test_settings_that_can_be_read_are_taken(course):
    append(course, "c.CourseDirectory.db_url = 'sqlite:///elsewhere.db'")
    status, lines = nbgrader(course, "db", "student", "list")
    assert status == 0 and (course / "elsewhere.db").is_file(), lines
    assert not any("plain nbgrader" in line for line in lines)


def test_a_folder_without_settings_is_told_once(course):
    (course / "elsewhere").mkdir()
    _, lines = nbgrader(course / "elsewhere", "db", "student", "list")
    assert (
        sum("this is plain nbgrader, which has no sandboxes" in line for line in lines)
        == 1
    )


def test_our_own_commands_do_not_go_on_without_settings_either(course, capsys):
    """Or the gradebook would be another one than the settings say."""
    make_course(course, "02_attention")
    append(course, "c.CourseDirectory.db_url = (")
    assert cli.main(["grades", "02", "--format", "moodle", f"--course={course}"]) == 1
    assert "nbgrader_config.py, line " in capsys.readouterr().err


def test_an_installation_that_can_be_edited_has_it_too(tmp_path):
    """pip asks our backend; setuptools' own leaves data files out."""
    build = f"import backend; backend.build_editable({str(tmp_path)!r})"
    subprocess.run(
        [sys.executable, "-c", build],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(HOOK)},
        check=True,
        capture_output=True,
    )
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as file:
        (name,) = (n for n in file.namelist() if n.endswith("nbgrader_config.py"))
        assert name.endswith(".data/data/etc/jupyter/nbgrader_config.py")
        assert file.read(name) == (HOOK / "nbgrader_config.py").read_bytes()
