"""Build, publish and grade the course: ``autograder COMMAND``."""

from __future__ import annotations

import argparse
import io
import os
import signal
import stat
import sys
from collections.abc import Sequence
from pathlib import Path

from autograder.cli.arguments import Command, Parser
from autograder.course import ROOT, config_errors, terminal
from autograder.course.errors import CourseError
from autograder.sandbox import logs


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; 0 if all is well, 1 if something needs a person."""
    terminal.settle()
    config_errors.refuse()
    options = _parser().parse_args(arguments)
    if getattr(options, "verbose", False):
        logs.begin("autograder", debug=True)
    # Two processes with two threads each on two cores are ten times slower than with
    # one; the library reads this when torch is first imported, which is later.
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    # nbgrader starts `alembic` by name, which lies beside our interpreter.
    path = os.environ.get("PATH", os.defpath)
    os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{path}"
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # which may know ASCII only
            stream.reconfigure(errors="backslashreplace")
    try:
        _refuse_another_course(Path.cwd())
        if "course" in options and options.course is None:
            from autograder.classroom.gradebook import find_course

            options.course = find_course()
        _share(getattr(options, "course", Path.cwd()))
        run: Command = options.run
        status = run(options)
        sys.stdout.flush()
        return status
    except CourseError as error:
        print(f"autograder: {error}", file=sys.stderr)
        return 1
    except BrokenPipeError:  # who reads what we print has read enough: `| head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 128 + signal.SIGPIPE
    except OSError as error:  # a file that cannot be read or written
        where = f"{error.filename}: " if error.filename else ""
        print(f"autograder: {where}{error.strerror or error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print(
            "autograder: stopped; run the same command to start again", file=sys.stderr
        )
        return 128 + signal.SIGINT


def _share(folder: Path) -> None:
    """Let a group change what is made in its folder, whatever umask this shell has."""
    if folder.is_dir() and folder.stat().st_mode & stat.S_IWGRP:
        os.umask(os.umask(0) & ~stat.S_IRWXG)


def _refuse_another_course(folder: Path) -> None:
    """A course that was copied or moved with its environment would change another one.

    Raises:
        CourseError: what runs is not the course in this folder.
    """
    here = folder / "autograder" / "course"
    if here.is_dir() and not here.samefile(ROOT / "autograder" / "course"):
        raise CourseError(
            f"this environment belongs to the course in {ROOT}; create one for this "
            "folder: rm -r .venv; make setup"
        )


def _parser() -> argparse.ArgumentParser:
    # Here, where a Ctrl-C meanwhile ends in a line.
    from autograder.cli import answers, course, grades, handing_in

    parser: argparse.ArgumentParser = Parser(prog="autograder", description=__doc__)
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    for module in (course, handing_in, grades, answers):
        module.COMMANDS.add(commands)
    for one in (parser, *commands.choices.values()):  # before or after the command
        one.add_argument(
            "--verbose", action="store_true", default=argparse.SUPPRESS,
            help="log what each process does to stderr",
        )  # fmt: skip
    return parser
