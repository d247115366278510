"""What graded cells are called: "unit/name" by the course, "unit-name" by nbgrader.

An exercise has two cells: a check with its own grade id, and the answer above it.
"""

from __future__ import annotations

_ANSWER = "-answer"


def of_check(exercise: str) -> str:
    """The grade id of an exercise's check, or of a written answer: "unit-name"."""
    return exercise.replace("/", "-")


def of_answer(exercise: str) -> str:
    """The grade id of the cell that an exercise is solved in: "unit-name-answer"."""
    return of_check(exercise) + _ANSWER


def check_of(grade_id: str) -> str:
    """The grade id of the check of an answer, or of the check itself."""
    return grade_id.removesuffix(_ANSWER)


def exercise_of(check: str) -> str:
    """The exercise of a check's grade id: "unit/name"; a unit's name has no slash."""
    return check.replace("-", "/", 1)
