"""Penalise an error once: repeat the checks that follow from it with a correct version.

When an exercise fails and one that it builds on has failed, too, a fresh sandbox runs
the notebook once more. There, the course's solutions replace the student's failed ones,
the student's cells that build on these are run again, and the check is repeated. Then
the student's answers are restored, and the sandbox goes on to the next such check.

An exercise builds on the exercises that its solution uses, and on those that the
student's own answer names. These come before it in the notebook. So the verdict on an
exercise is final when its solution replaces the student's, and it does no harm that the
student's code can then read the solution. Only the new verdicts leave the sandbox. It
gets the solutions from the judge as source code, and does not import their module.

Some solutions give away the answer to a different exercise: if the course's table can
be looked up, its formula is no longer needed. Such "keys" are listed in the unit's
manifest; for that exercise, a key is replaced only if the student has at least half of
its points. So nothing is gained by leaving it out, or by filling in anything.
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
    """Map each exercise to the earlier exercises whose objects its answer names.

    The student's code is not parsed here: a name counts wherever it occurs as a word.
    If it is only mentioned, in a comment say, the check may be repeated needlessly.
    """
    uses: dict[str, Collection[str]] = {}
    before: dict[str, str] = {}  # by name of an object, its exercise
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

    These are the answers that build on the ``replaced`` exercises, up to the answer to
    ``exercise``. Running only the last one would not be enough: a function looks
    names up when it is called, but a class looks up its base class when its cell is
    run.
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

    A key is an earlier exercise whose solution would answer this one.

    Args:
        failed: the verdicts on the failed exercises, by exercise ("unit/name").
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

    It is better if it has more points, or as many points and a mistake where the first
    names none. Two mistakes together rarely look like a known one; once the earlier one
    is corrected, the other may be recognised.
    """
    if second.points != first.points:
        return second.points > first.points
    return bool(second.mistake) and not first.mistake
