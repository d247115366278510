"""Names of graded cells: "unit/name" in the course, "unit-name" in nbgrader.

An exercise has two cells: a check with its own grade id, and the answer above it.
"""

from __future__ import annotations

_ANSWER = "-answer"


def of_check(exercise: str) -> str:
    """Convert an exercise's name, "unit/name", to its check's grade id, "unit-name".

    A written question has only one cell, the answer; this is its grade id.
    """
    return exercise.replace("/", "-")


def of_answer(exercise: str) -> str:
    """Convert an exercise's name, "unit/name", to its answer's, "unit-name-answer"."""
    return of_check(exercise) + _ANSWER


def check_of(grade_id: str) -> str:
    """Return a check's grade id, from that of its answer cell or from its own."""
    return grade_id.removesuffix(_ANSWER)


def exercise_of(check: str) -> str:
    """Convert a check's grade id, "unit-name", to the exercise's name, "unit/name"."""
    return check.replace("-", "/", 1)
