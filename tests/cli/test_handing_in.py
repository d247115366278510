"""Commands before grading take back what was given, and say what cannot be."""

from __future__ import annotations

import pytest

from autograder import cli


@pytest.fixture
def run_command(course, capsys):
    """Runs a command in the course; its status, and all that it printed."""

    def run(command: str, *arguments: str) -> tuple[int, str]:
        status = cli.main([command, "06", *arguments, "--course", str(course)])
        printed = capsys.readouterr()
        return status, printed.out + printed.err

    return run


def test_more_time_is_given_listed_and_taken_back(run_command, course):
    (course / "submitted" / "ada").mkdir(parents=True)
    assert run_command("extend", "ada", "--days", "1", "--hours", "2")[0] == 0
    assert "ada: 1 day 2 hours after the deadline" in run_command("extend")[1]
    assert run_command("extend", "ada", "--days", "0")[1].startswith("ada: none")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["ada"], "say how much"),
        (["--days", "3"], "say who"),
        (["ada", "--days", "1", "--until", "2026-12-03 23:59 UTC"], "give --until, or"),
        (["ada", "--days", "nan"], "shorter than 1000 days"),
        (["ada", "--days", "1e12"], "shorter than 1000 days"),
    ],
)
def test_no_extension_is_lost_or_granted_by_half_a_command(
    run_command, arguments, message
):
    run_command("extend", "ada", "--days", "1")
    status, printed = run_command("extend", *arguments)
    assert status == 2 and message in printed and printed.count("\n") == 1
    assert run_command("extend")[1] == "ada: 1 day after the deadline\n"


def test_more_time_for_somebody_who_is_nowhere_asks_about_the_name(run_command, course):
    (course / "submitted" / "ada").mkdir(parents=True)
    status, printed = run_command("extend", "ada", "adda", "--days", "1")
    assert status == 1 and "adda is in neither the gradebook nor submitted/" in printed
    assert "ada is in" not in printed
    assert (
        run_command("extend", "adda", "--days", "0")[0] == 0
    )  # the typo is taken back


@pytest.mark.parametrize(
    ("arguments", "expected", "message"),
    [
        (["--hours", "-2"], 2, "an extension cannot end before the deadline"),
        (
            ["--until", "2026-12-03 23:59"],
            1,
            "has no deadline yet; give --days or --hours",
        ),
    ],
)
def test_a_time_that_cannot_be_is_refused_in_a_line(
    run_command, arguments, expected, message
):
    status, printed = run_command("extend", "ada", *arguments)
    assert status == expected and message in printed and printed.count("\n") == 1


def test_archives_of_an_lms_that_is_not_known_are_not_read(run_command):
    status, printed = run_command("collect", "nowhere.zip", "--lms", "webct")
    assert status == 2 and "--lms must be one of canvas, moodle" in printed
