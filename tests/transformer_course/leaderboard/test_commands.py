"""``autograder leaderboard`` says in a line what it made, or what it lacks."""

from __future__ import annotations

from pathlib import Path

import pytest

from autograder import cli
from tests.cli.conftest import course

__all__ = ["course"]


def test_a_unit_without_a_leaderboard_is_one_line(course, capsys):
    assert cli.main(["leaderboard", "06", "--course", str(course)]) == 1
    output = capsys.readouterr().err
    assert output.count("\n") == 1 and "06_text_recovery has no leaderboard" in output
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
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"autograder: {course}") and "reports" in line
