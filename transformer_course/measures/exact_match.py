"""The share of sequences for which a model's output is entirely correct.

The probe (in the notebook) or the judge (in grading) decodes and counts them.
"""

from __future__ import annotations

import torch

from autograder.checks.exercise import Answers
from autograder.checks.measures import Measure


def _read_share(expected: Answers, actual: Answers) -> float:
    """Return ``actual["share"]``, a number from 0 to 1, or 0 if it is not a tensor."""
    share = actual["share"]
    return share.item() if isinstance(share, torch.Tensor) else 0.0


MEASURE = Measure(_read_share)
