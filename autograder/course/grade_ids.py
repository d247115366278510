"""Names of graded cells: "unit/name" in the course, "unit-name" in nbgrader.

An exercise has two cells: a check with its own grade id, and the answer above it.
"""

from __future__ import annotations

_ANSWER = "-answer"


def of_check(exercise: str) -> str:
    """The grade id of an exercise's check, or of a written answer: "unit-name"."""
    return exercise.replace("/", "-")


def of_answer(exercise: str) -> str:
    """The grade id of the cell in which an exercise is solved: "unit-name-answer"."""
    return of_check(exercise) + _ANSWER


def check_of(grade_id: str) -> str:
    """The grade id of an exercise's check, from the grade id of its answer or check."""
    return grade_id.removesuffix(_ANSWER)


def exercise_of(check: str) -> str:
    """Convert a check's grade id, "unit-name", to the exercise's name, "unit/name"."""
    return check.replace("-", "/", 1)
