"""What the command line is made of: types, and arguments that many commands have."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn, TypeAlias

# argparse gives it no public name.
Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"
Command = Callable[[argparse.Namespace], int]


class Parser(argparse.ArgumentParser):
    """Says in one line what it cannot take, and where to read what it can."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message}; see {self.prog} --help\n")


def add_graded(
    commands: Commands, name: str, run: Command, text: str
) -> argparse.ArgumentParser:
    """A command on what nbgrader has graded of one unit."""
    command = commands.add_parser(name, help=text, description=text)
    command.add_argument("unit", metavar="UNIT", help='like "attention" or "02"')
    add_course(command)
    command.set_defaults(run=run)
    return command


def add_course(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--course", type=Path, default=Path(), metavar="FOLDER",
        help="nbgrader's course folder; default: this one",
    )  # fmt: skip
