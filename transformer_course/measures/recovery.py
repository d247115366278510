"""The measure of a model that recovers texts: the points that its BLEU earns.

The notebook or the judge computes them; here they are only read and checked.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from autograder.checks.exercise import Answers
from autograder.checks.measures import Measure, RejectedAnswerError

OURS = (
    "these are the {} of the checkpoint that ships with the course; the grade is for a "
    "model that you trained yourself"
)
# The fewest errors of the checkpoint that are enough to compare, and the share of them
# from which a student's model counts as a copy.
_TELLING, _SHARE = 30, 0.72


def errors(texts: Sequence[str], wanted: Sequence[str]) -> dict[str, str]:
    """Map the index of each incorrect text, as a string for JSON, to that text."""
    rows = enumerate(zip(texts, wanted, strict=False))
    return {str(i): text for i, (text, right) in rows if text != right}


def are_shared(student_errors: Mapping[str, str], copied: Mapping[str, str]) -> bool:
    """Return whether a student's model shares most errors of the shipped checkpoint.

    Both arguments are as from `errors`. Models that were trained separately share
    less than half of their errors (docs/recovery_grade.md). Few errors, which
    chance could explain, give False.
    """
    shared = sum(student_errors.get(index) == text for index, text in copied.items())
    return len(copied) >= _TELLING and shared >= _SHARE * len(copied)


def _read_numbers(answers: Answers) -> dict[str, Any]:
    """Return the numbers and the remark ("says") in the JSON text of "recovery"."""
    numbers: dict[str, Any] = json.loads(str(answers["recovery"]))
    return numbers


def _read_points(expected: Answers, actual: Answers) -> float:
    """Read the percentage of the points that a model earns; above 100 is a bonus.

    Raises:
        RejectedAnswerError: it shares most errors of the shipped checkpoint.
    """
    # "copied" are the errors of the shipped checkpoint on the same sentences.
    if "errors" in actual and "copied" in expected:
        student_errors = json.loads(str(actual["errors"]))
        if are_shared(student_errors, json.loads(str(expected["copied"]))):
            raise RejectedAnswerError(f"0: {OURS.format('errors')}")
    return float(_read_numbers(actual)["recovery"])


def _list_details(expected: Answers, actual: Answers) -> dict[str, float]:
    """Map names to the measured numbers, such as BLEU and the baselines' BLEU."""
    numbers = _read_numbers(actual).items()
    return {n: float(v) for n, v in numbers if isinstance(v, int | float)}


def _read_remark(expected: Answers, actual: Answers) -> str:
    """Read the sentence about the numbers, which follows the score in a verdict."""
    return str(_read_numbers(actual)["says"])


MEASURE = Measure(_read_points, _list_details, _read_remark, has_own_scale=True)
