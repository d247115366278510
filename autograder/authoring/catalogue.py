"""Load the exercises of a unit: their cases, mistakes and accepted solutions.

``UNIT/exercises/`` in the course's package has a file for each exercise. Files whose
names begin with ``_`` hold what several exercises share.
"""

from __future__ import annotations

import contextlib
import importlib
import inspect
import logging
import re
from collections.abc import Iterator
from dataclasses import replace
from operator import is_
from pathlib import Path

from autograder.authoring.sizes import complete
from autograder.authoring.specification import Specification
from autograder.authoring.trees import defined_names
from autograder.checks.ready_made import describe_unnoticed
from autograder.course.errors import CourseError, Faults, describe_fault
from autograder.root import CONTENT, PACKAGE, ROOT

log = logging.getLogger(__name__)


def specifications(unit: str) -> tuple[Specification, ...]:
    """Load a unit's exercises, in the order of its notebook."""
    files = sorted((CONTENT / unit / "exercises").glob("[!_]*.py"))
    solutions = importlib.import_module(f"{PACKAGE}.solutions.{unit}")
    names = defined_names(inspect.getsource(solutions))
    order = {name: i for i, name in enumerate(names)}
    exercises, faults = list[Specification](), Faults()
    for file in files:
        with faults.collect(), naming_file(f"{unit}/{file.stem}"):
            exercises.append(specification(f"{unit}/{file.stem}"))
    faults.refuse()
    exercises.sort(key=lambda exercise: order.get(exercise.targets[0], len(order)))
    return tuple(exercises)


def file_of(name: str) -> Path:
    """The file of an exercise, "unit/exercise"."""
    unit, _, exercise = name.partition("/")
    return CONTENT / unit / "exercises" / f"{exercise}.py"


@contextlib.contextmanager
def naming_file(name: str) -> Iterator[None]:
    """Turn an error in the ``with`` block into a CourseError with file and line.

    Args:
        name: the exercise that is to blame, "unit/name".
    """
    try:
        yield
    except CourseError as error:
        text = str(error)
        if not re.match(r"\S+:\d+: ", text):
            text = f"{locate(name, text)}: {text}"
        raise CourseError(text) from None
    except Exception as error:
        log.debug("%s: it was:", name, exc_info=error)
        file = file_of(name)
        place = str(file.relative_to(ROOT))
        message = describe_fault(error, ROOT, file.parents[1], otherwise=place)
        raise CourseError(f"{message} (exercise {name})") from error


def locate(name: str, message: str) -> str:
    """Find the place in an exercise's file that a message is about, as "file:line".

    It is the first line with a name that the message quotes, or else line 1.
    """
    file = file_of(name)
    code = file.read_text(encoding="utf-8") if file.is_file() else ""
    for quoted in re.findall(
        r"""(?:variant|case|mutant) (\w+)|["'](.+?)["']""", message
    ):
        start = code.find(f'"{"".join(quoted)}"')
        if start >= 0:
            return f"{file.relative_to(ROOT)}:{code.count(chr(10), 0, start) + 1}"
    return f"{file.relative_to(ROOT)}:1"


def specification(name: str) -> Specification:
    """Load an exercise, "unit/name", and fill in what its specification leaves out.

    The result is cached until the exercise or its solution is reloaded.
    """
    unit, _, stem = name.partition("/")
    module = importlib.import_module(f"{PACKAGE}.{unit}.exercises.{stem}")
    written: Specification = module.EXERCISE
    exercise = replace(written, name=name, target=written.target or stem)
    for listed in exercise.ready_made:
        if fault := describe_unnoticed(listed):
            raise CourseError(f"{name}: ready_made names {listed!r}, but {fault}")
    solutions = importlib.import_module(f"{PACKAGE}.solutions.{unit}")
    solved = [getattr(solutions, target, None) for target in exercise.targets]
    made_from = [written, *solved]
    if name not in _completed or not all(map(is_, _completed[name][0], made_from)):
        _completed[name] = made_from, complete(exercise)
    return _completed[name][1]


# By name, with the objects from which each was made: a build reloads the solutions,
# after which the specification has to be completed again.
_completed: dict[str, tuple[list[object], Specification]] = {}
