"""An error costs once: what follows from it is tried again with a right earlier part.

When an exercise fails and one that it builds on has failed, too, a fresh box runs the
notebook once more and is asked again, with the course's version of the failed ones in
place of the student's. Then the student's are put back, and the box goes on to the next
such check. What an exercise builds on stands before it: so whatever has been in place
has a final verdict, and its solution may be known there. Nothing but the new verdicts
leaves that box.
"""

from __future__ import annotations

import ast
import importlib
import inspect
from collections.abc import Collection, Iterable
from dataclasses import replace

from autograder.bank import specification
from autograder.grading.judge import Decision
from autograder.grading.record import Record
from autograder.oracle.variants import solution_source
from autograder.student import references
from autograder.student.panel import BLUE, ORANGE, boxed, inline, mark


def missing(exercise: str, failed: Collection[str]) -> list[str]:
    """The failed exercises that one builds on, also through others, in their order."""
    known = references.load(exercise.split("/")[0])
    found: set[str] = set()
    asked = [exercise]
    while asked:
        for name in known[asked.pop()].builds_on:
            if name not in found:
                found.add(name)
                asked.append(name)
    return [name for name in failed if name in found]


def course_version(names: Iterable[str]) -> str:
    """Code that puts the course's solutions of some exercises in place."""
    chosen = [specification(name) for name in names]
    module = importlib.import_module(f"autograder.solutions.{chosen[0].unit}")
    imports = [
        ast.unparse(node)
        for node in ast.parse(inspect.getsource(module)).body
        if isinstance(node, ast.Import | ast.ImportFrom)
    ]
    return "\n".join([*imports, *map(solution_source, chosen)])


def is_better(again: Record, before: Record) -> bool:
    """Whether the second verdict earns more, or as much and names a mistake at last.

    A mistake on top of an earlier one is like no known mistake; alone it may be one.
    """
    if again.points != before.points:
        return again.points > before.points
    return bool(again.mistake) and not before.mistake


def given(decision: Decision, names: Iterable[str]) -> Decision:
    """The decision on a check that was tried again, saying what was put in place.

    The course's solutions are known where the answers were made. So nothing that an
    answer says leaves: no error's words, no tensor; only which cases were right.
    """
    titles = " and ".join(specification(name).title for name in names)
    right = decision.record.points >= decision.record.max_points
    says = (
        f"Right, given a right version of: {titles}."
        if right
        else f"Tried once more with the course's version of: {titles}."
    )
    # Nor the panel's text, which has the words of errors.
    record = replace(decision.record, given=tuple(names), note=says, panel="")
    return replace(decision, record=record, panel=_panel(record))


def _panel(record: Record) -> str:
    """The verdict as HTML, of the course's own words alone."""
    points = f"{record.points:g} of {record.max_points:g} points"
    rows = [f"<em>{inline(record.note)}</em>", f"<strong>{points}</strong>"]
    rows += [inline(record.says)] if record.says else []
    rows += [mark(not case.problem) + inline(case.title) for case in record.cases]
    colour = BLUE if record.points >= record.max_points else ORANGE
    return boxed(colour, "".join(f"<div>{row}</div>" for row in rows))
