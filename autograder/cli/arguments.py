"""Define commands of the command line, and arguments that many commands share."""

from __future__ import annotations

import argparse
import difflib
import re
from argparse import Namespace
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, NoReturn, TypeAlias

from autograder.course import ROOT, Unit, find_unit, units
from autograder.course.errors import CourseError

# The type that ``add_subparsers`` returns, for which argparse has no public name.
Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"
Command = Callable[[Namespace], int]
OnUnit = Callable[[str, Path, Namespace], int]
Option = tuple[str, dict[str, Any]]


_CHOICE = re.compile(
    r"(?P<wrong>invalid choice: '(?P<word>.*)') \(choose from (?P<choices>.*)\)$"
)
WRONG_USAGE = 2  # the exit status that argparse itself uses for this


class Parser(argparse.ArgumentParser):
    """A parser that reports wrong usage in one line, with a reference to --help."""

    def refuse_unknown(self, arguments: Sequence[str]) -> NoReturn:
        """End with a usage error about arguments that a command does not accept."""
        word = arguments[0].partition("=")[0]
        suggestion = _suggest(word, self._option_string_actions)
        self.error(f"unrecognized arguments: {' '.join(arguments)}{suggestion}")

    def error(self, message: str) -> NoReturn:
        """End with a usage error; for a misspelt choice, suggest a similar one."""
        if match := _CHOICE.search(message):
            choices = re.findall(r"[\w-]+", match["choices"])
            if suggestion := _suggest(match["word"], choices):
                message = message[: match.end("wrong")] + suggestion
        self.exit(WRONG_USAGE, f"{self.prog}: {message}; see {self.prog} --help\n")


def _suggest(word: str, choices: Iterable[str]) -> str:
    """A question whether the most similar choice was meant; "" if none is similar."""
    close = difflib.get_close_matches(word, list(choices), 1)
    return f" (did you mean {close[0]}?)" if close else ""


def option(name: str, text: str | None, metavar: Any = None, **keywords: Any) -> Option:
    """Describe a command's argument, as the name and keywords of ``add_argument``.

    ``text`` is its help, where ``metavar`` stands for its value.
    """
    return name, {"help": text, "metavar": metavar, **keywords}


def flag(name: str, text: str) -> Option:
    """Describe an option that is either given or not; ``text`` is its help."""
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
    """Return the units that the command line names, or all units if it names none.

    Raises:
        CourseError: a unit, or one that it builds on, does not exist.
    """
    from autograder.authoring.solutions import refuse_gaps

    chosen = [find_unit(name) for name in options.units] or units()
    if not chosen:
        raise CourseError(f"{ROOT} has no unit: write notebooks/01_NAME.py there")
    for unit in chosen:
        refuse_gaps(unit)
    return chosen


class CommandSet:
    """The commands for one topic, in the order of their definition.

    ``role`` is the role under which help lists the commands of an extra.
    """

    def __init__(self, role: str = "") -> None:
        self.role = role
        self._commands: list[tuple[str, str, tuple[Option, ...], Command]] = []

    def command(
        self, name: str, text: str, *options: Option
    ) -> Callable[[Command], Command]:
        """Register the decorated function as a command; ``text`` is for its help.

        It is called with the parsed options, and returns an exit status.
        """

        def register(run: Command) -> Command:
            self._commands.append((name, text, options, run))
            return run

        return register

    def graded(
        self, name: str, text: str, *options: Option
    ) -> Callable[[OnUnit], OnUnit]:
        """Register the decorated function as a command on an assignment of a course.

        It is called with the assignment's full name, the course folder and the parsed
        options, and returns an exit status.
        """

        def register(run: OnUnit) -> OnUnit:
            def run_on_unit(namespace: Namespace) -> int:
                from autograder.classroom import gradebook

                unit = gradebook.find_assignment(namespace.unit, namespace.course)
                return run(unit, namespace.course, namespace)

            self.command(name, text, UNIT, COURSE, *options)(run_on_unit)
            return run

        return register

    @property
    def names(self) -> list[str]:
        """The names of the commands."""
        return [name for name, *_ in self._commands]

    def add(self, commands: Commands) -> None:
        """Add a parser for each command to the subparsers of argparse."""
        for name, text, options, run in self._commands:
            command = commands.add_parser(name, description=text)  # help: by role
            for argument, keywords in options:
                command.add_argument(argument, **keywords)
            command.set_defaults(run=run, parser=command)
