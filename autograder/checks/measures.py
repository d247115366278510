"""Measures for answers that are better or worse rather than right or wrong.

A measure returns a number, the larger the better; the ``scale`` of a case turns
it into a share of the points. The measure NAME is the constant ``MEASURE`` of
the module ``measures/NAME.py`` in the course's package.
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

# Exceptions that a measure may raise for malformed answers.
_UNREADABLE = (KeyError, TypeError, ValueError, RuntimeError, AttributeError)


@dataclass(frozen=True)
class Measure:
    """Functions that score answers by comparing them with the expected ones of a case.

    Args:
        value: returns a number, the larger the better.
        details: returns further numbers by name; NaN for what does not apply.
        remark: returns a sentence on what is wrong as a whole, or "".
        has_own_scale: whether the remark itself says what the answers are worth.
    """

    value: Callable[[Answers, Answers], float]
    details: Callable[[Answers, Answers], dict[str, float]] = lambda *_: {}
    remark: Callable[[Answers, Answers], str] = lambda *_: ""
    has_own_scale: bool = False


class RejectedAnswerError(Exception):
    """Raised by a measure for answers that are worth nothing; the text says why."""


def find(name: str) -> Measure:
    """Import the measure of this name.

    Raises:
        ModuleNotFoundError: there is no such measure.
    """
    measure: Measure = importlib.import_module(f"{PACKAGE}.measures.{name}").MEASURE
    return measure


def measure_answers(name: str, expected: Answers, actual: Answers) -> tuple[float, str]:
    """Return the measured value; for unusable answers, 0 and the reason, if known."""
    measure = find(name)
    try:
        return float(measure.value(expected, actual)), ""
    except RejectedAnswerError as reason:
        return 0.0, str(reason)
    except _UNREADABLE:
        return 0.0, ""


def details(name: str, expected: Answers, actual: Answers) -> dict[str, float]:
    """Return the measured value, under the measure's name, and its details.

    Details that do not apply are left out.
    """
    numbers, measure = {name: measure_answers(name, expected, actual)[0]}, find(name)
    with contextlib.suppress(*_UNREADABLE):
        extras = measure.details(expected, actual)
        numbers |= {n: value for n, value in extras.items() if not math.isnan(value)}
    return numbers


def remark(name: str, expected: Answers, actual: Answers) -> str:
    """Say in a sentence what is wrong with measured answers as a whole, or ""."""
    with contextlib.suppress(*_UNREADABLE):
        return find(name).remark(expected, actual)
    return ""


def credit(value: float, scale: Sequence[tuple[float, float]]) -> float:
    """Return the share of the points for a measured value; above 1 is a bonus.

    It is interpolated linearly between the pairs (value, share) of ``scale``, and
    constant outside.
    """
    if not value > scale[0][0]:  # also for NaN
        return scale[0][1]
    for (low, low_share), (high, high_share) in pairwise(scale):
        if value < high:
            return low_share + (high_share - low_share) * (value - low) / (high - low)
    return scale[-1][1]
