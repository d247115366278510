"""Penalise an error once: repeat checks that depend on it with a correct version.

If an exercise fails and builds on another one that failed, its check is
repeated in a fresh sandbox, where the course's solutions replace the failed
ones. A solution that would give the answer away (a "key") is used only if the
student has at least half of its points.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping

from nbformat import NotebookNode
from nbgrader.utils import is_solution

from autograder.course import find_unit, manifest
from autograder.grading.checks import reference_metadata
from autograder.grading.checks.check_cell import check_cell
from autograder.grading.judge.verdict import Verdict

Uses = Mapping[str, Collection[str]]  # by exercise, earlier ones that it names
SOLVED = 0.5  # the share of a key's points that is required before it is replaced


def find_uses(cells: Iterable[NotebookNode]) -> Uses:
    """Map each exercise to the earlier exercises whose objects its answer names."""
    uses: dict[str, Collection[str]] = {}
    before: dict[str, str] = {}  # by name of an object, its exercise
    # The words in the answers since the last check.
    words: set[str] = set()
    for cell in cells:
        if check := check_cell(cell):
            uses[check.exercise] = [before[n] for n in before if n in words]
            checked = re.findall(r"\w+", check.expression)
            before |= dict.fromkeys(checked, check.exercise)
            words.clear()
        elif cell.cell_type == "code" and is_solution(cell):
            words.update(re.findall(r"\w+", cell.source))
    return uses


def find_prerequisites(exercise: str, failed: Collection[str], uses: Uses) -> list[str]:
    """Find the failed exercises that ``exercise`` builds on, directly or indirectly.

    They are in the order of ``failed``; ``uses`` is a result of `find_uses`.
    """
    exercises = reference_metadata.entries(exercise.split("/")[0])
    prerequisites: set[str] = set()
    pending = [exercise]
    while pending:
        current = pending.pop()
        for name in (*exercises[current]["builds_on"], *uses.get(current, ())):
            if name in exercises and name not in prerequisites:
                prerequisites.add(name)
                pending.append(name)
    return [name for name in failed if name in prerequisites]


def find_answers(
    cells: Iterable[NotebookNode], exercise: str, replaced: Collection[str], uses: Uses
) -> list[str]:
    """Find the code of cells to run again once solutions replace some exercises.

    They are answers that build on ``replaced`` exercises, up to ``exercise``.
    """
    exercises = reference_metadata.entries(exercise.split("/")[0])
    needed = {exercise, *find_prerequisites(exercise, exercises, uses)} - {*replaced}
    affected = [
        name
        for name in needed
        if {*find_prerequisites(name, exercises, uses)} & {*replaced}
    ]
    answers: list[str] = []
    waiting: list[str] = []  # cells whose check is still to come
    for cell in cells:
        if check := check_cell(cell):
            answers += waiting if check.exercise in affected else []
            waiting.clear()
        elif cell.cell_type == "code" and is_solution(cell):
            waiting.append(cell.source)
    return answers


def find_withheld_keys(exercise: str, failed: Mapping[str, Verdict]) -> list[str]:
    """Find those keys to an exercise that the student has not sufficiently solved.

    A key is an earlier exercise whose solution would answer this one. ``failed``
    maps the failed exercises ("unit/name") to their verdicts.
    """
    unit, _, name = exercise.partition("/")
    keys = manifest.read(find_unit(unit)).keys.get(name, ())
    verdicts = (failed.get(f"{unit}/{key}") for key in keys)
    return [v.exercise for v in verdicts if v and v.points < SOLVED * v.max_points]


def titles(exercises: Collection[str]) -> str:
    """The titles of some exercises, joined by "and"."""
    return " and ".join(
        reference_metadata.titles(n.split("/")[0])[n] for n in exercises
    )


def is_better(second: Verdict, first: Verdict) -> bool:
    """Return whether the second verdict is better than the first.

    It has more points, or as many but names a mistake where the first names none.
    """
    if second.points != first.points:
        return second.points > first.points
    return bool(second.mistake) and not first.mistake
