"""Build, publish and grade the course: ``autograder COMMAND``."""

from __future__ import annotations

import argparse
import io
import os
import signal
import stat
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from autograder import seams
from autograder.cli.arguments import WRONG_USAGE, Command, CommandSet, Parser
from autograder.course import config_errors, terminal
from autograder.course.errors import CourseError, UsageError
from autograder.root import ENGINE
from autograder.sandbox import logs

# The role under which help lists a command: that of its first user. The commands of
# extras state their roles themselves.
ROLES = {
    "student": ("lab",),
    "teaching assistant": (
        "collect", "extend", "show", "report", "grades", "feedback", "replay",
        "regrade",
    ),
    "instructor": ("demo", "kit", "solutions", "mistakes", "new-term", "new-course"),
    "author": ("init", "build", "adopt", "new-unit", "new-exercise", "validity"),
}  # fmt: skip
_STATUS = """\
autograder COMMAND --help explains a command. The exit status is 0 if all is well, 1 if
something needs a look, and 2 if the command line is wrong."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command, and return its exit status.

    It is 0 if all is well, 1 if something needs a look, and 2 for wrong usage.

    Raises:
        SystemExit: the command line cannot be parsed, or asks for help.
    """
    terminal.settle()
    config_errors.refuse()
    options, unknown = _parser().parse_known_args(arguments)
    if unknown:
        options.parser.refuse_unknown(unknown)
    if getattr(options, "verbose", False):
        logs.begin("autograder", debug=True)
    # Two processes with two threads each on two cores are ten times slower than with
    # one; the library reads this when torch is first imported, which is later.
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    # nbgrader starts `alembic` by name, which is installed next to our interpreter.
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
        return WRONG_USAGE if isinstance(error, UsageError) else 1
    except BrokenPipeError:  # the reader of our output has closed it, as `| head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 128 + signal.SIGPIPE
    except OSError as error:  # a file that cannot be read or written
        prefix = f"{error.filename}: " if error.filename else ""
        print(f"autograder: {prefix}{error.strerror or error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        message = "autograder: stopped; run the same command to start again"
        print(message, file=sys.stderr)
        return 128 + signal.SIGINT


def _share(folder: Path) -> None:
    """Make new files group-writable if the course folder is."""
    if folder.is_dir() and folder.stat().st_mode & stat.S_IWGRP:
        os.umask(os.umask(0) & ~stat.S_IRWXG)


def _refuse_another_course(folder: Path) -> None:
    """Refuse to run in the folder of a different copy of the course.

    Raises:
        CourseError: the folder holds a copy of the engine that is not the one running.
    """
    path = folder / ENGINE.name / "root.py"
    if path.is_file() and not path.samefile(ENGINE / "root.py"):
        raise CourseError(
            f"this environment belongs to the course in {ENGINE.parent}; create one "
            "for this folder: rm -r .venv; make setup"
        )


def _parser() -> argparse.ArgumentParser:
    """The parser of the whole command line, with the commands of extras."""
    # Imported only here, where Ctrl-C during the import ends in a one-line message.
    from autograder.cli import course, grades, handing_in

    parser: argparse.ArgumentParser = Parser(
        prog="autograder", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    extras = [module.COMMANDS for module in seams.modules("commands")]
    for module in (course, handing_in, grades):
        module.COMMANDS.add(commands)
    for added in extras:
        added.add(commands)
    parser.epilog = _by_role(commands.choices, extras)
    # The option may come before or after the command.
    for command_parser in (parser, *commands.choices.values()):
        command_parser.add_argument(
            "--verbose", action="store_true", default=argparse.SUPPRESS,
            help="log what each process does to stderr",
        )  # fmt: skip
    return parser


def _by_role(
    commands: Mapping[str, argparse.ArgumentParser], extras: Sequence[CommandSet]
) -> str:
    """List the commands by role, each with its description."""
    width = max(map(len, commands))
    roles = {role: list(names) for role, names in ROLES.items()}
    for added in extras:
        roles.setdefault(added.role, []).extend(added.names)
    lines: list[str] = []
    for role, names in roles.items():
        lines.append(f"{role}:")
        for name in filter(commands.__contains__, names):
            lines.append(f"  {name:<{width}}  {commands[name].description}")
        lines.append("")
    return "\n".join([*lines, _STATUS])
