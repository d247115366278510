"""How good recovered texts are, as whoever has compared them with the originals says.

What BLEU is worth depends on the corpus and the level that a student has chosen, so
the share of the points comes with the numbers.
"""

from __future__ import annotations

import json
from typing import Any

from autograder.checks.exercise import Answers
from autograder.checks.measures import Measure


def _numbers(answers: Answers) -> dict[str, Any]:
    """The numbers, by name, and what they ``say``.

    Raises:
        KeyError, ValueError, TypeError: there are none.
    """
    found: dict[str, Any] = json.loads(str(answers["recovery"]))
    return found


def _value(expected: Answers, actual: Answers) -> float:
    """The share of the points in percent; above 100 is a bonus."""
    return float(_numbers(actual)["recovery"])


def _details(expected: Answers, actual: Answers) -> dict[str, float]:
    """BLEU with its interval, the corpus, its baselines, and the recall by ability."""
    found = _numbers(actual).items()
    return {n: float(v) for n, v in found if isinstance(v, int | float)}


def _remark(expected: Answers, actual: Answers) -> str:
    return str(_numbers(actual)["says"])


MEASURE = Measure(_value, _details, _remark)
