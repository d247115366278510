"""How the points of an exercise are divided over aspects, as a check divides them."""

from __future__ import annotations

from dataclasses import replace

from autograder.checks import references
from autograder.checks.points import WEIGHTS, aspects, possible


def shares(name: str, points: float) -> dict[str, float]:
    """An exercise's points by aspect, in the usual order; of its visible cases."""
    exercise = replace(references.load(name.split("/")[0])[name], points=points)
    found = dict.fromkeys(a for case in exercise.cases for a in aspects(case))
    usual = [aspect for aspect in WEIGHTS if aspect in found]
    return possible(exercise, dict.fromkeys([*usual, *found]))
