"""Commands after grading say in a line what they made, or what they lack."""

from __future__ import annotations

from pathlib import Path

import pytest

from autograder import cli


def test_a_unit_without_a_leaderboard_is_one_line(course, capsys):
    assert cli.main(["leaderboard", "06", "--course", str(course)]) == 1
    said = capsys.readouterr().err
    assert said.count("\n") == 1 and "06_text_recovery has no leaderboard" in said
    assert not (course / "reports").exists()


@pytest.fixture
def ranked(course) -> Path:
    """The course, whose notebook has a place for a name on the board."""
    (path,) = course.glob("source/*/*.ipynb")
    path.write_text(path.read_text().replace("import math", "LEADERBOARD_NAME = ''"))
    return course


def test_the_command_writes_the_leaderboard_of_a_course(ranked, capsys):
    course = ranked
    assert cli.main(["leaderboard", "06", "--course", str(course)]) == 0
    paths = list(map(Path, capsys.readouterr().out.split()))
    assert {path.parent for path in paths} == {course / "reports"}
    board, _, tried, _, _ = (path.read_text(encoding="utf-8") for path in paths)
    assert "Nobody is on the board yet." in board
    assert "No log compares anything yet." in tried


def test_what_cannot_be_written_is_one_line(ranked, capsys):
    course = ranked
    (course / "reports").write_text("in the way")
    assert cli.main(["leaderboard", "06", "--course", str(course)]) == 1
    (said,) = capsys.readouterr().err.splitlines()
    assert said.startswith(f"autograder: {course}") and "reports" in said


@pytest.mark.parametrize(
    "asked", [["report"], ["report", "06", "--all"], ["report", "--shareable"]]
)
def test_a_report_is_of_a_unit_or_of_all(course, capsys, asked):
    assert cli.main([*asked, "--course", str(course)]) == 2
    assert capsys.readouterr().err == "autograder: give a unit, or --all\n"


@pytest.mark.parametrize(
    "asked",
    [
        ["--all", "--shareable"], ["--all", "--before", "old.csv"],
        ["06", "--weight", "06=3"], ["06", "--drop", "1"],
    ],
)  # fmt: skip
def test_what_a_report_would_not_heed_is_refused(course, capsys, asked):
    """Or a page that was meant to name nobody names everybody."""
    assert cli.main(["report", *asked, "--course", str(course)]) == 2
    assert capsys.readouterr().err.startswith("autograder: --")
    assert not (course / "reports").exists()


def test_a_unit_that_nobody_has_graded_ends_in_a_line(course, capsys):
    for command in (["report", "06"], ["grades", "06", "--format", "moodle"]):
        assert cli.main([*command, "--course", str(course)]) == 1
        (said,) = capsys.readouterr().err.splitlines()
        assert said.startswith("autograder: there is no ")
    assert not (course / "reports").exists()


def test_a_format_that_no_lms_has_is_refused(course, capsys):
    with pytest.raises(SystemExit):
        cli.main(["grades", "06", "--format", "webct", "--course", str(course)])
    (said,) = capsys.readouterr().err.splitlines()
    assert "invalid choice: 'webct'" in said and "grades --help" in said
