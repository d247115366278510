"""The measure of a model that recovers texts: the points that its BLEU score earns.

How many points a BLEU score earns depends on the student's choice of corpus and
level. So the probe (in the notebook) or the judge (in grading) computes the points and
reports them together with BLEU; the functions here only read these numbers.
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
    """Map the index of each text that differs from the wanted one to that text.

    The indices are strings, because JSON allows no other keys. Texts beyond the end
    of ``wanted`` are ignored.
    """
    rows = enumerate(zip(texts, wanted, strict=False))
    return {str(i): text for i, (text, right) in rows if text != right}


def are_shared(student_errors: Mapping[str, str], copied: Mapping[str, str]) -> bool:
    """Whether a student's model shares most errors of the shipped checkpoint.

    Two models that were trained separately share less than half of their errors; one
    model that is decoded in two ways shares four fifths (docs/recovery_grade.md). The
    result is False for few errors, which could be shared by chance.

    Args:
        student_errors: the incorrect texts of the student's model, as from `errors`.
        copied: the shipped checkpoint's incorrect texts for the same sources.
    """
    shared = sum(student_errors.get(index) == text for index, text in copied.items())
    return len(copied) >= _TELLING and shared >= _SHARE * len(copied)


def _read_numbers(answers: Answers) -> dict[str, Any]:
    """Return the numbers and the remark ("says") in the JSON text of "recovery".

    Raises:
        KeyError, ValueError: there is no such answer, or it is not JSON.
    """
    numbers: dict[str, Any] = json.loads(str(answers["recovery"]))
    return numbers


def _read_points(expected: Answers, actual: Answers) -> float:
    """Read the percentage of the points that a model earns; above 100 is a bonus.

    The probe or the judge has computed it from BLEU and put it into ``actual``.

    In a notebook, the errors of the student's model on the first texts (``errors``) are
    compared here with those of the shipped checkpoint (``copied``); in grading, the
    judge has already compared them.

    Raises:
        RejectedAnswerError: the two models share most of their errors.
    """
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
