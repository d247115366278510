"""Divide the points of an exercise over aspects, as a check does."""

from __future__ import annotations

from dataclasses import replace

from autograder.checks import references
from autograder.checks.points import WEIGHTS, aspects, possible


def shares(name: str, points: float) -> dict[str, float]:
    """The points of an exercise's visible cases by aspect, in the usual order."""
    exercise = replace(references.load(name.split("/")[0])[name], points=points)
    case_aspects = dict.fromkeys(a for case in exercise.cases for a in aspects(case))
    usual = [aspect for aspect in WEIGHTS if aspect in case_aspects]
    return possible(exercise, dict.fromkeys([*usual, *case_aspects]))
