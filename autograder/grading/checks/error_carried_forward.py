"""An error costs once: what follows from it is tried again with a right earlier part.

When an exercise fails and one that it builds on has failed, too, a fresh sandbox runs
the notebook once more and is asked again, with the course's version of the failed ones
in place of the student's; the student's cells that build on these are run again after
that. Then the student's are put back, and the sandbox goes on to the next such check.
An exercise builds on what its solution uses, and on what the student's own answer
names. All of that stands before it: so whatever has been in place has a final verdict,
and its solution may be known there. Nothing but the new verdicts leaves that sandbox.
The judge knows the course's version: nothing is imported for it.

Some solutions are another exercise's answer: who looks rows up in the course's table
needs no formula for them. Such keys stand in the unit's manifest, and one is put in
place only if the student has solved most of it: what was left out, or filled with
anything, opens nothing.
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

Uses = Mapping[str, Collection[str]]  # by exercise, others before it
SOLVED = 0.5  # the share of its points from which a key is put in place


def find_uses(cells: Iterable[NotebookNode]) -> Uses:
    """Find, by exercise, those before it whose objects the student's answer names.

    A name counts wherever it stands as a word: a student's code is not parsed here,
    and a name that plays no part costs a second try at most.
    """
    uses: dict[str, Collection[str]] = {}
    before: dict[str, str] = {}  # what was checked, and in which exercise
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
    """Find the failed exercises that one builds on, also through others, in order."""
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


def run_again(
    cells: Iterable[NotebookNode], exercise: str, replaced: Collection[str], uses: Uses
) -> list[str]:
    """The answers, up to an exercise's own, that build on the replaced exercises.

    A function looks its names up when it is called, a class its base when its cell is
    run. So the cells are run again, from the first one that builds on the replaced
    exercises to that of the exercise itself.
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
    """Find the keys to an exercise that the student has not solved enough of."""
    unit, _, name = exercise.partition("/")
    keys = manifest.read(find_unit(unit)).keys.get(name, ())
    verdicts = (failed.get(f"{unit}/{key}") for key in keys)
    return [v.exercise for v in verdicts if v and v.points < SOLVED * v.max_points]


def titles(exercises: Collection[str]) -> str:
    """The titles of some exercises, as words of a sentence."""
    return " and ".join(
        reference_metadata.titles(n.split("/")[0])[n] for n in exercises
    )


def is_better(second: Verdict, first: Verdict) -> bool:
    """Whether the second verdict earns more, or as much and names a mistake at last.

    A mistake on top of an earlier one is like no known mistake; alone it may be one.
    """
    if second.points != first.points:
        return second.points > first.points
    return bool(second.mistake) and not first.mistake
