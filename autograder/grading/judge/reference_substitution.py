"""The course's version of exercises in place of a student's: the judge's part.

Its code, and what is told of a verdict on what builds on it (see carrying.py).
"""

from __future__ import annotations

import ast
import functools
import importlib
import inspect
from collections.abc import Iterable, Sequence
from dataclasses import replace

from autograder.authoring.catalogue import specification
from autograder.authoring.variants import solution_source
from autograder.checks.interactor import BlindTrial
from autograder.checks.panel import BLUE, ORANGE, boxed, inline, mark
from autograder.grading.judge.record import Record
from autograder.grading.judge.told import Told


def course_version(names: Iterable[str]) -> str:
    """Code that puts the course's solutions of some exercises in place; "" for none."""
    chosen = [specification(name) for name in names]
    if not chosen:
        return ""
    return "\n".join([_imports(chosen[0].unit), *map(solution_source, chosen)])


@functools.cache
def _imports(unit: str) -> str:
    """What the solutions of a unit import."""
    module = importlib.import_module(f"autograder.solutions.{unit}")
    nodes = ast.parse(inspect.getsource(module)).body
    wanted = (n for n in nodes if isinstance(n, ast.Import | ast.ImportFrom))
    return "\n".join(map(ast.unparse, wanted))


def given(told: Told, names: Sequence[str]) -> Told:
    """What is told of a check that was tried with some exercises put in place.

    The course's solutions are known where the answers were made. So nothing that an
    answer says leaves: no error's words, no tensor; only which cases were right. A
    clinic counts as a whole only: its second box may tell itself from the first one,
    and guess again.
    """
    titles = " and ".join(specification(name).title for name in names)
    record = told.record
    right = record.points >= record.max_points
    if not right and issubclass(specification(record.exercise).side, BlindTrial):
        # Words on a clinic's things can be guessed, and two guesses are more than one.
        record = replace(record, points=0.0)
    says = (
        f"Right, given a right version of: {titles}."
        if right
        else f"Tried once more with the course's version of: {titles}."
    )
    # Nor the panel's text, which has the words of errors.
    record = replace(record, given=tuple(names), note=says, panel="")
    return Told(record, _panel(record))


def _panel(record: Record) -> str:
    """The verdict as HTML, of the course's own words alone."""
    points = f"{record.points:g} of {record.max_points:g} points"
    rows = [f"<em>{inline(record.note)}</em>", f"<strong>{points}</strong>"]
    rows += [inline(record.says)] if record.says else []
    rows += [mark(not case.problem) + inline(case.title) for case in record.cases]
    colour = BLUE if record.points >= record.max_points else ORANGE
    return boxed(colour, "".join(f"<div>{row}</div>" for row in rows))
