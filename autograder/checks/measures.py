"""Measures for answers that are better or worse rather than right or wrong.

A measure takes the expected and the given answers of a case and returns a number, the
larger the better; a case's ``scale`` turns it into a share of the points. A measure is
a module of ``measures`` in the course's package, under the name that cases use, with a
``MEASURE`` in it.
"""

from __future__ import annotations

import contextlib
import importlib
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from autograder.checks.exercise import Answers
from autograder.root import PACKAGE

# What a measure may raise over answers that it cannot read.
_UNREADABLE = (KeyError, TypeError, ValueError, RuntimeError, AttributeError)


@dataclass(frozen=True)
class Measure:
    """What can be said of the expected and the given answers of a case.

    Args:
        value: a number, the larger the better.
        details: what else is worth knowing, by name; NaN for what nothing asked for.
        remark: what is wrong with them as a whole, in a sentence; "" if nothing.
        has_own_scale: the remark says what they are worth, on a scale of its own.
    """

    value: Callable[[Answers, Answers], float]
    details: Callable[[Answers, Answers], dict[str, float]] = lambda *_: {}
    remark: Callable[[Answers, Answers], str] = lambda *_: ""
    has_own_scale: bool = False


class NotTheirsError(Exception):
    """Answers that are worth nothing for a reason; the text says which."""


def find(name: str) -> Measure:
    """The measure with a name.

    Raises:
        ModuleNotFoundError: there is none.
    """
    measure: Measure = importlib.import_module(f"{PACKAGE}.measures.{name}").MEASURE
    return measure


def measure_answers(name: str, expected: Answers, actual: Answers) -> tuple[float, str]:
    """Measure answers: the value, 0 if they are unreadable, and the reason for a 0."""
    measure = find(name)
    try:
        return float(measure.value(expected, actual)), ""
    except NotTheirsError as reason:
        return 0.0, str(reason)
    except _UNREADABLE:
        return 0.0, ""


def details(name: str, expected: Answers, actual: Answers) -> dict[str, float]:
    """The measure's value and whatever else is worth knowing of the answers.

    What nothing asked for (a recall of nothing is NaN) is left out.
    """
    numbers, measure = {name: measure_answers(name, expected, actual)[0]}, find(name)
    with contextlib.suppress(*_UNREADABLE):
        extras = measure.details(expected, actual)
        numbers |= {n: value for n, value in extras.items() if not math.isnan(value)}
    return numbers


def remark(name: str, expected: Answers, actual: Answers) -> str:
    """What is wrong with measured answers as a whole, in a sentence; "" if unknown."""
    with contextlib.suppress(*_UNREADABLE):
        return find(name).remark(expected, actual)
    return ""


def credit(value: float, scale: Sequence[tuple[float, float]]) -> float:
    """The share of the points that a measured value earns; above 1 is a bonus.

    ``scale`` holds (value, share) in rising order; shares are interpolated linearly
    between them and constant outside.
    """
    if not value > scale[0][0]:  # also for NaN
        return scale[0][1]
    for (low, low_share), (high, high_share) in pairwise(scale):
        if value < high:
            return low_share + (high_share - low_share) * (value - low) / (high - low)
    return scale[-1][1]
