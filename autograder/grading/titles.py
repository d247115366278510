"""Readable names of graded cells, in place of their grade ids."""

from __future__ import annotations

import functools
import re

from autograder.course import grade_ids, units
from autograder.grading.checks import reference_metadata


def title(assignment: str, grade_id: str) -> str:
    """The title of a cell's exercise; for a written answer, its id as words.

    An assignment that is not one of the course's units keeps its ids.
    """
    unit = assignment.partition("_")[2]
    titles = reference_metadata.titles(unit)
    if not titles:
        return grade_id
    words = grade_id.removeprefix(f"{unit}-").replace("_", " ")
    name = grade_ids.exercise_of(grade_id)
    return titles.get(name, f"{words.capitalize()} (in words)")


@functools.cache
def heading(assignment: str) -> str:
    """An assignment as a heading: "3 · Multi-head attention" for a unit's label.

    A unit has the heading of its notebook; other numbered names become words.
    """
    for unit in units():
        if unit.label == assignment:
            text = unit.text.read_text(encoding="utf-8")
            if match := re.search(r"^# # (.+)$", text, re.MULTILINE):
                return match[1]
    number, _, name = assignment.partition("_")
    words = name.replace("_", " ").capitalize()
    return f"{int(number)} · {words}" if number.isdecimal() and words else assignment


def number(assignment: str, grade_id: str) -> str:
    """The number of a cell's exercise in its notebook, "2.4"; "" if it has none."""
    numbers = reference_metadata.numbers(assignment.partition("_")[2])
    return numbers.get(grade_ids.exercise_of(grade_id), "")
