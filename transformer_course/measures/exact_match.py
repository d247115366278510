"""The share of rows that a model gets right, as counted by the probe or the judge."""

from __future__ import annotations

import torch

from autograder.checks.exercise import Answers
from autograder.checks.measures import Measure


def _read_share(expected: Answers, actual: Answers) -> float:
    """Read the share, from 0 to 1, from the observations of the student's model."""
    share = actual["share"]
    return share.item() if isinstance(share, torch.Tensor) else 0.0


MEASURE = Measure(_read_share)
