"""Measures for answers that are better or worse rather than right or wrong.

A measure takes the expected and the given answers of a case and returns a number, the
larger the better; a case's ``scale`` turns it into a share of the points.
"""

from __future__ import annotations

import json
import math
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


class NotTheirs(Exception):
    """Answers that are worth nothing for a reason; the text says which."""


def remark(name: str, expected: Answers, actual: Answers) -> str:
    """What is wrong with measured answers as a whole, in a sentence; "" if unknown."""
    try:
        return _REMARKS[name](expected, actual) if name in _REMARKS else ""
    except (KeyError, TypeError, ValueError, AttributeError):
        return ""


def measured(name: str, expected: Answers, actual: Answers) -> tuple[float, str]:
    """A measure's value, 0 if it cannot read the answers; and why it is 0, if known."""
    try:
        return float(_MEASURES[name](expected, actual)), ""
    except NotTheirs as reason:
        return 0.0, str(reason)
    except (KeyError, TypeError, ValueError, RuntimeError, AttributeError):
        if name not in _MEASURES:
            raise
        return 0.0, ""


def value_of(name: str, expected: Answers, actual: Answers) -> float:
    """A measure's value; 0 for answers that it cannot read."""
    return measured(name, expected, actual)[0]


def credit(value: float, scale: Sequence[tuple[float, float]]) -> float:
    """The share of the points that a measured value earns; above 1 is a bonus.

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


@measure("bleu")
def bleu(expected: Answers, actual: Answers) -> float:
    """BLEU (sacrebleu, 13a, case counts) of the JSON lists of texts named ``bleu``.

    0 for another number of texts, and for outputs that make the very errors of
    ``expected["copied"]``, the first outputs of a model that everybody has.
    """
    import sacrebleu

    wanted, given = json.loads(expected["bleu"]), json.loads(actual["bleu"])
    if len(wanted) != len(given) or not all(isinstance(text, str) for text in given):
        return 0.0
    if _same_errors(wanted, given, json.loads(expected.get("copied", "[]"))):
        raise NotTheirs(
            "0: these are the errors of the checkpoint that ships with the course; the "
            "grade is for a model that you trained"
        )
    return sacrebleu.corpus_bleu(given, [wanted], force=True).score


def _same_errors(wanted: list[str], given: list[str], copied: list[str]) -> bool:
    """Whether most wrong outputs of a model that everybody has are those given, too.

    Of two models trained apart it is less than half; of one model that is decoded in
    two ways, four fifths (docs/recovery_grade.md). A few could be chance.
    """
    rows = list(zip(wanted, given, copied, strict=False))
    errors = [(own, other) for right, own, other in rows if right not in (own, other)]
    asked = sum(other != right for right, _, other in rows)
    return asked >= 30 and sum(own == other for own, other in errors) >= 0.72 * asked


_DETAILS: dict[str, Callable[[Answers, Answers], dict[str, float]]] = {}


def details(name: str, expected: Answers, actual: Answers) -> dict[str, float]:
    """The measure's value and whatever else is worth knowing of the answers.

    What nothing asked for (a recall of nothing is NaN) is left out.
    """
    found = {name: value_of(name, expected, actual)}
    try:
        more = _DETAILS[name](expected, actual) if name in _DETAILS else {}
    except (KeyError, TypeError, ValueError, AttributeError):
        more = {}
    return found | {n: value for n, value in more.items() if not math.isnan(value)}


def _abilities(expected: Answers, actual: Answers) -> dict[str, float]:
    from autograder.student.recovery import abilities

    wanted, given = json.loads(expected["bleu"]), json.loads(actual["bleu"])
    return abilities.recall([abilities.left(t) for t in wanted], wanted, given)


def _as_a_whole(expected: Answers, actual: Answers) -> str:
    from autograder.student.recovery import abilities

    return abilities.remark(json.loads(expected["bleu"]), json.loads(actual["bleu"]))


_DETAILS["bleu"] = _abilities
_REMARKS: dict[str, Callable[[Answers, Answers], str]] = {"bleu": _as_a_whole}
