"""The judge's part in repeating a check with the course's solutions.

A failed check is repeated if an exercise that it builds on has failed, too. The
course's solution then replaces the earlier answer. This module provides its
code, and reduces the second verdict to what a student may see.
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
from autograder.checks.boxes import BLUE, ORANGE, boxed, mark
from autograder.checks.interactor import BlindTrial
from autograder.checks.references import titles
from autograder.checks.rows import inline
from autograder.grading.judge.verdict import RenderedVerdict, Verdict
from autograder.root import PACKAGE


def solutions_code(names: Iterable[str]) -> str:
    """Python code of the course's solutions of some exercises; "" for none."""
    chosen = [specification(name) for name in names]
    if not chosen:
        return ""
    return "\n".join([_imports(chosen[0].unit), *map(solution_source, chosen)])


@functools.cache
def _imports(unit: str) -> str:
    """The import statements in a unit's solutions, as code."""
    module = importlib.import_module(f"{PACKAGE}.solutions.{unit}")
    nodes = ast.parse(inspect.getsource(module)).body
    wanted = (n for n in nodes if isinstance(n, ast.Import | ast.ImportFrom))
    return "\n".join(map(ast.unparse, wanted))


def render_second_verdict(verdict: Verdict, names: Sequence[str]) -> RenderedVerdict:
    """Render the verdict on a check that was repeated with the course's solutions.

    The student's code could read the solutions of ``names``, so no answer is shown.
    A bug clinic earns all its points or none, as the code may just guess again.
    """
    named = " and ".join(titles(name.split("/")[0])[name] for name in names)
    right = verdict.points >= verdict.max_points
    if not right and issubclass(
        specification(verdict.exercise).interactor_class, BlindTrial
    ):
        # A clinic can be answered by guessing, and a second try is a second guess.
        verdict = replace(verdict, points=0.0)
    note = (
        f"Right, given a right version of: {named}."
        if right
        else f"Tried once more with the course's version of: {named}."
    )
    # The panel's text is dropped, too, because it quotes error messages.
    verdict = replace(verdict, given=tuple(names), note=note, panel="")
    return RenderedVerdict(verdict, _panel(verdict))


def _panel(verdict: Verdict) -> str:
    """The verdict as HTML, which contains texts of the course only."""
    points = f"{verdict.points:g} of {verdict.max_points:g} points"
    rows = [f"<em>{inline(verdict.note)}</em>", f"<strong>{points}</strong>"]
    rows += [inline(verdict.says)] if verdict.says else []
    rows += [mark(not case.problem) + inline(case.title) for case in verdict.cases]
    colour = BLUE if verdict.points >= verdict.max_points else ORANGE
    return boxed(colour, "".join(f"<div>{row}</div>" for row in rows))
