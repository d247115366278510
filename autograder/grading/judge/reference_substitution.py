"""The course's version of exercises in place of a student's: the judge's part.

This module has the code of that version, and turns the second verdict into one that a
student may see; error_carried_forward.py says when a version is put in place.
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


def course_version(names: Iterable[str]) -> str:
    """Code that puts the course's solutions of some exercises in place; "" for none."""
    chosen = [specification(name) for name in names]
    if not chosen:
        return ""
    return "\n".join([_imports(chosen[0].unit), *map(solution_source, chosen)])


@functools.cache
def _imports(unit: str) -> str:
    """What the solutions of a unit import."""
    module = importlib.import_module(f"{PACKAGE}.solutions.{unit}")
    nodes = ast.parse(inspect.getsource(module)).body
    wanted = (n for n in nodes if isinstance(n, ast.Import | ast.ImportFrom))
    return "\n".join(map(ast.unparse, wanted))


def render_second_verdict(verdict: Verdict, names: Sequence[str]) -> RenderedVerdict:
    """Render the verdict on a check that was repeated with the course's solutions.

    These solutions, of the exercises in ``names``, can be read in the sandbox in which
    the answers were computed. So the verdict shows which cases passed, but no text or
    tensor from an answer. A bug clinic earns all its points or none, because code can
    detect that it runs for the second time, and guess again.
    """
    named = " and ".join(titles(name.split("/")[0])[name] for name in names)
    right = verdict.points >= verdict.max_points
    if not right and issubclass(specification(verdict.exercise).side, BlindTrial):
        # Words on a clinic's things can be guessed, and two guesses are more than one.
        verdict = replace(verdict, points=0.0)
    note = (
        f"Right, given a right version of: {named}."
        if right
        else f"Tried once more with the course's version of: {named}."
    )
    # Nor the panel's text, which has the words of errors.
    verdict = replace(verdict, given=tuple(names), note=note, panel="")
    return RenderedVerdict(verdict, _panel(verdict))


def _panel(verdict: Verdict) -> str:
    """The verdict as HTML, of the course's own words alone."""
    points = f"{verdict.points:g} of {verdict.max_points:g} points"
    rows = [f"<em>{inline(verdict.note)}</em>", f"<strong>{points}</strong>"]
    rows += [inline(verdict.says)] if verdict.says else []
    rows += [mark(not case.problem) + inline(case.title) for case in verdict.cases]
    colour = BLUE if verdict.points >= verdict.max_points else ORANGE
    return boxed(colour, "".join(f"<div>{row}</div>" for row in rows))
