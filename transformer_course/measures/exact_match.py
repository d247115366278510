"""The share of rows that a model gets right, as counted by the probe or the judge."""

from __future__ import annotations

import torch

from autograder.checks.exercise import Answers
from autograder.checks.measures import Measure


def _value(expected: Answers, actual: Answers) -> float:
    """The share, from 0 to 1, in the observations of the student's model."""
    share = actual["share"]
    return share.item() if isinstance(share, torch.Tensor) else 0.0


MEASURE = Measure(_value)
