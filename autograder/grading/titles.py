"""What people call a graded cell, instead of by its grade id."""

from __future__ import annotations

from autograder.course import grade_ids
from autograder.grading.checks import reference_metadata


def title(assignment: str, grade_id: str) -> str:
    """The exercise's title; of a written answer, its id as words.

    An assignment that is none of the course's units keeps its ids.
    """
    unit = assignment.partition("_")[2]
    titles = reference_metadata.titles(unit)
    if not titles:
        return grade_id
    words = grade_id.removeprefix(f"{unit}-").replace("_", " ")
    name = grade_ids.exercise_of(grade_id)
    return titles.get(name, f"{words.capitalize()} (in words)")


def heading(assignment: str) -> str:
    """An assignment as a heading: "2 · Multi head attention" for a unit's label."""
    number, _, name = assignment.partition("_")
    words = name.replace("_", " ").capitalize()
    return f"{int(number)} · {words}" if number.isdecimal() and words else assignment


def number(assignment: str, grade_id: str) -> str:
    """The exercise's number in its notebook, "2.4"; "" for what has none."""
    numbers = reference_metadata.numbers(assignment.partition("_")[2])
    return numbers.get(grade_ids.exercise_of(grade_id), "")
