"""How many rows of predictions are right in every place."""

from __future__ import annotations

import torch

from autograder.student.exercise import Answers
from autograder.student.measures import Measure


def _value(expected: Answers, actual: Answers) -> float:
    """The share of rows of ``rows`` (N, L), int64, that are equal in every place."""
    wanted, given = expected["rows"], actual["rows"]
    if not isinstance(wanted, torch.Tensor) or not isinstance(given, torch.Tensor):
        return 0.0
    if wanted.shape != given.shape or wanted.dtype != given.dtype:
        return 0.0
    return torch.eq(wanted, given).all(dim=1).double().mean().item()


MEASURE = Measure(_value)
