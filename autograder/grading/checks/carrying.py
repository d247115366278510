"""An error costs once: what follows from it is tried again with a right earlier part.

When an exercise fails and one that it builds on has failed, too, a fresh box runs the
notebook once more and is asked again, with the course's version of the failed ones in
place of the student's. Then the student's are put back, and the box goes on to the next
such check. What an exercise builds on stands before it: so whatever has been in place
has a final verdict, and its solution may be known there. Nothing but the new verdicts
leaves that box. The judge knows the course's version (in_place.py): nothing is imported
for it here.
"""

from __future__ import annotations

from collections.abc import Collection

from autograder.grading.checks import index
from autograder.grading.judge.record import Record


def missing(exercise: str, failed: Collection[str]) -> list[str]:
    """The failed exercises that one builds on, also through others, in their order."""
    known = index.entries(exercise.split("/")[0])
    found: set[str] = set()
    asked = [exercise]
    while asked:
        for name in known[asked.pop()]["builds_on"]:
            if name not in found:
                found.add(name)
                asked.append(name)
    return [name for name in failed if name in found]


def is_better(again: Record, before: Record) -> bool:
    """Whether the second verdict earns more, or as much and names a mistake at last.

    A mistake on top of an earlier one is like no known mistake; alone it may be one.
    """
    if again.points != before.points:
        return again.points > before.points
    return bool(again.mistake) and not before.mistake
