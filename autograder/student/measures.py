"""Measures for answers that are better or worse rather than right or wrong.

A measure takes the expected and the given answers of a case and returns a number, the
larger the better; a case's ``scale`` turns it into a share of the points.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

import torch

from autograder.student.exercise import Answers

Measure = Callable[[Answers, Answers], float]
_MEASURES: dict[str, Measure] = {}


def measure(name: str) -> Callable[[Measure], Measure]:
    """Register a measure under the name that cases use."""

    def register(function: Measure) -> Measure:
        _MEASURES[name] = function
        return function

    return register


def value_of(name: str, expected: Answers, actual: Answers) -> float:
    """A measure's value; 0 for answers that it cannot read."""
    try:
        return float(_MEASURES[name](expected, actual))
    except (KeyError, TypeError, ValueError, RuntimeError, AttributeError):
        if name not in _MEASURES:
            raise
        return 0.0


def credit(value: float, scale: Sequence[tuple[float, float]]) -> float:
    """The share of the points, between 0 and 1, that a measured value earns.

    ``scale`` holds (value, share) in rising order; shares are interpolated linearly
    between them and constant outside.
    """
    if not value > scale[0][0]:  # also for NaN
        return scale[0][1]
    for (low, less), (high, more) in pairwise(scale):
        if value < high:
            return less + (more - less) * (value - low) / (high - low)
    return scale[-1][1]


@measure("exact_match")
def exact_match(expected: Answers, actual: Answers) -> float:
    """The share of rows of ``rows`` (N, L), int64, that are equal in every place."""
    wanted, given = expected["rows"], actual["rows"]
    if wanted.shape != given.shape or wanted.dtype != given.dtype:
        return 0.0
    return torch.eq(wanted, given).all(dim=1).double().mean().item()
