"""How a command ends: with a line and a status, whoever reads what it prints."""

from __future__ import annotations

import argparse
import logging
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from autograder import cli, seams
from autograder.course.errors import CourseError, UsageError


@pytest.fixture
def end_with(monkeypatch, capsys):
    """Runs a command that raises something; its status, and what it printed."""

    def run(error: BaseException) -> tuple[int, str]:
        def fail(options):
            raise error

        parser = argparse.ArgumentParser()
        parser.set_defaults(run=fail)
        monkeypatch.setattr(cli, "_parser", lambda: parser)
        return cli.main([]), capsys.readouterr().err

    return run


def test_who_stops_a_command_reads_a_line_and_no_traceback(end_with):
    status, output = end_with(KeyboardInterrupt())
    assert status == 128 + signal.SIGINT and output.count("\n") == 1


def test_a_file_that_is_closed_is_named(end_with):
    ending = end_with(PermissionError(13, "Permission denied", "reports/a.html"))
    assert ending == (1, "autograder: reports/a.html: Permission denied\n")


def test_a_shell_without_a_path_is_no_reason_to_fail(course, monkeypatch):
    monkeypatch.delenv("PATH")
    assert cli.main(["extend", "06", f"--course={course}"]) == 0


@pytest.mark.parametrize(("mode", "file_mode"), [(0o2770, 0o660), (0o700, 0o600)])
def test_what_is_made_in_a_group_s_folder_is_the_group_s(course, mode, file_mode):
    (course / "submitted" / "ada").mkdir(parents=True)
    course.chmod(mode)
    before = os.umask(0o077)
    try:
        assert cli.main(["extend", "06", "ada", "--days=1", f"--course={course}"]) == 0
    finally:
        os.umask(before)
    path = course / ".autograder" / "extensions.json"
    assert path.stat().st_mode & 0o777 == file_mode
    assert path.parent.stat().st_mode & 0o070 == mode & 0o070


PRINTS = """
import argparse, sys
from autograder import cli, seams

def run(options):
    print({text!r} * {times})
    return 0

parser = argparse.ArgumentParser()
parser.set_defaults(run=run)
cli._parser = lambda: parser
sys.exit(cli.main([]))
"""


def printing(text: str, times: int = 1, **options) -> subprocess.Popen:
    return subprocess.Popen(
        [sys.executable, "-c", PRINTS.format(text=text, times=times)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        **options,
    )


@pytest.mark.parametrize("size", [10, 1 << 20])
def test_who_has_read_enough_of_it_hears_nothing_more(size):
    """As `| head` does: of what is written at once, or at the end."""
    command = printing("x", size)
    command.stdout.close()
    assert command.stderr.read() == b""
    assert command.wait(60) == 128 + signal.SIGPIPE


def test_a_terminal_that_knows_ascii_only_is_no_reason_to_fail():
    environment = {**os.environ, "PYTHONIOENCODING": "ascii", "LC_ALL": "C"}
    out, errors = printing("Bob Óðinsson ✓", env=environment).communicate(timeout=60)
    assert (out, errors) == (b"Bob \\xd3\\xf0insson \\u2713\n", b"")


def commands() -> dict[str, argparse.ArgumentParser]:
    (subparsers,) = (
        action
        for action in cli._parser()._actions
        if isinstance(action, argparse._SubParsersAction)
    )
    return dict(subparsers.choices)


def test_the_help_has_each_command_once_below_its_role():
    extras = [module.COMMANDS for module in seams.modules("commands")]
    listed = [name for names in cli.ROLES.values() for name in names]
    listed += [name for added in extras for name in added.names]
    assert sorted(listed) == sorted(commands())
    text = cli._parser().format_help()
    roles = dict.fromkeys([*cli.ROLES, *(added.role for added in extras)])
    places = [text.index(f"\n{role}:\n") for role in roles]
    assert places == sorted(places)
    for name, command in commands().items():
        assert text.count(f"\n  {name} ") == 1 and command.description in text
    assert max(map(len, text.splitlines())) <= 88


@pytest.mark.parametrize("name", sorted(commands()))
def test_an_option_that_no_command_has_is_wrong_usage(name, capsys):
    with pytest.raises(SystemExit) as ended:
        cli.main([name, "--no-such-option"])
    assert ended.value.code == 2
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.parametrize(
    ("error", "status"), [(UsageError("x"), 2), (CourseError("x"), 1)]
)
def test_a_wrong_command_line_is_told_from_what_needs_a_look(end_with, error, status):
    assert end_with(error) == (status, "autograder: x\n")


@pytest.mark.parametrize(
    "line",
    [
        "report", "report 06 --all", "report --all --shareable", "report 06 --drop 1",
        "report --all --weight 06", "grades 06 --format canvas", "regrade 06 ada",
        "regrade 06", "extend 06 ada", "extend 06 --days 1", "extend 06 ada --days -1",
        "extend 06 ada --days 1 --until x", "show 99 ada",
        "collect 06 x.zip --lms webct", "collect 06 x.zip --timezone Mars/Base",
    ],
)  # fmt: skip
def test_what_a_command_cannot_be_asked_is_wrong_usage(line, course, capsys):
    assert cli.main([*line.split(), "--course", str(course)]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_what_a_command_calls_its_course_is_a_folder():
    kinds = {
        name: action.type
        for name, command in commands().items()
        for action in command._actions
        if action.dest == "course"
    }
    assert len(kinds) > 5
    assert {name for name, kind in kinds.items() if kind is not Path} == set()


@pytest.mark.parametrize("line", [["--verbose", "count"], ["count", "--verbose"]])
def test_debug_lines_show_if_a_command_is_verbose(line, monkeypatch, capsys):
    def add(commands):
        def run(options: argparse.Namespace) -> int:
            logging.getLogger("autograder.counting").debug("from one to ten")
            return 0

        commands.add_parser("count").set_defaults(run=run)

    logger = logging.getLogger("autograder")
    monkeypatch.setattr(logger, "handlers", [])
    monkeypatch.setattr(logger, "level", logger.level)
    monkeypatch.setattr("autograder.cli.course.COMMANDS.add", add)
    assert cli.main(["count"]) == 0
    assert capsys.readouterr().err == ""
    assert cli.main(line) == 0
    log = capsys.readouterr().err
    assert log.startswith("[autograder ") and log.endswith("DEBUG from one to ten\n")
    logger.setLevel(logging.NOTSET)
