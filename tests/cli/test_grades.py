"""Commands after grading say in a line what they made, or what they lack."""

from __future__ import annotations

import pytest

from autograder import cli


@pytest.mark.parametrize(
    "arguments", [["report"], ["report", "06", "--all"], ["report", "--shareable"]]
)
def test_a_report_is_of_a_unit_or_of_all(course, capsys, arguments):
    assert cli.main([*arguments, "--course", str(course)]) == 2
    assert capsys.readouterr().err == "autograder: give a unit, or --all\n"


@pytest.mark.parametrize(
    "arguments",
    [
        ["--all", "--shareable"], ["--all", "--before", "old.csv"],
        ["06", "--weight", "06=3"], ["06", "--drop", "1"],
    ],
)  # fmt: skip
def test_what_a_report_would_not_heed_is_refused(course, capsys, arguments):
    """Or a page that was meant to name nobody names everybody."""
    assert cli.main(["report", *arguments, "--course", str(course)]) == 2
    assert capsys.readouterr().err.startswith("autograder: --")
    assert not (course / "reports").exists()


def test_a_unit_that_nobody_has_graded_ends_in_a_line(course, capsys):
    for command in (["report", "06"], ["grades", "06", "--format", "moodle"]):
        assert cli.main([*command, "--course", str(course)]) == 1
        (line,) = capsys.readouterr().err.splitlines()
        assert line.startswith("autograder: there is no ")
    assert not (course / "reports").exists()


def test_a_format_that_no_lms_has_is_refused(course, capsys):
    with pytest.raises(SystemExit):
        cli.main(["grades", "06", "--format", "webct", "--course", str(course)])
    (line,) = capsys.readouterr().err.splitlines()
    assert "invalid choice: 'webct'" in line and "grades --help" in line
