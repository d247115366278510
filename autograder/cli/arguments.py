"""What the command line is made of: commands, and arguments that many of them have."""

from __future__ import annotations

import argparse
from argparse import Namespace
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn, TypeAlias

from autograder.course import Unit, find_unit, units

# argparse gives it no public name.
Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"
Command = Callable[[Namespace], int]
OnUnit = Callable[[str, Path, Namespace], int]
Option = tuple[str, dict[str, Any]]


WRONG_USAGE = 2  # the exit status that argparse has for it, too


class Parser(argparse.ArgumentParser):
    """Says in one line what it cannot take, and where to read what it can."""

    def error(self, message: str) -> NoReturn:
        self.exit(WRONG_USAGE, f"{self.prog}: {message}; see {self.prog} --help\n")


def option(name: str, text: str | None, metavar: Any = None, **how: Any) -> Option:
    """An argument; ``how`` is as argparse's ``add_argument`` takes it."""
    return name, {"help": text, "metavar": metavar, **how}


def flag(name: str, text: str) -> Option:
    """An option that is either given or not."""
    return name, {"help": text, "action": "store_true"}


UNIT = option("unit", 'like "attention" or "02"', "UNIT")
# Any number of units; see `chosen_units`.
UNITS = option("units", 'like "attention" or "02"; default: all', "UNIT", nargs="*")
COURSE = option(
    "--course",
    "nbgrader's course folder; default: this one, or the one that nbgrader's "
    "configuration names",
    "FOLDER", type=Path,
)  # fmt: skip


def chosen_units(options: Namespace) -> list[Unit]:
    """The units that are named, all if none is.

    Raises:
        CourseError: there is no such unit, or one lacks a unit on which it builds.
    """
    from autograder.authoring.solutions import refuse_gaps

    chosen = [find_unit(name) for name in options.units] or units()
    for unit in chosen:
        refuse_gaps(unit)
    return chosen


class CommandSet:
    """The commands for one topic, in the order of their definition.

    Args:
        role: whose they are in the list of all commands; the core's say it in `ROLES`.
    """

    def __init__(self, role: str = "") -> None:
        self.role = role
        self._written: list[tuple[str, str, tuple[Option, ...], Command]] = []

    def command(
        self, name: str, text: str, *options: Option
    ) -> Callable[[Command], Command]:
        """Register the decorated function, which returns an exit status, as a
        command."""

        def written(run: Command) -> Command:
            self._written.append((name, text, options, run))
            return run

        return written

    def graded(
        self, name: str, text: str, *options: Option
    ) -> Callable[[OnUnit], OnUnit]:
        """Make a function a command on what nbgrader has graded of one unit.

        It is called with the assignment and the course folder.
        """

        def written(run: OnUnit) -> OnUnit:
            def found(given: Namespace) -> int:
                from autograder.classroom import gradebook

                unit = gradebook.find_assignment(given.unit, given.course)
                return run(unit, given.course, given)

            self.command(name, text, UNIT, COURSE, *options)(found)
            return run

        return written

    @property
    def names(self) -> list[str]:
        """What the commands are called."""
        return [name for name, *_ in self._written]

    def add(self, commands: Commands) -> None:
        """Add the commands to an argument parser's."""
        for name, text, options, run in self._written:
            command = commands.add_parser(name, description=text)  # help: by role
            for argument, how in options:
                command.add_argument(argument, **how)
            command.set_defaults(run=run)
