"""The probe of unit 05's attention: where it looks."""

from __future__ import annotations

from typing import Any

import torch

from autograder.checks.probes import Inputs, Seen, probe
from transformer_course.sequence_reversal.probes.observing import the_share


@probe(
    "sequence_reversal/antidiagonal_share",
    results="share",
    calls="kind of the share; * afterwards",
)
def antidiagonal_share(function: Any, inputs: Inputs) -> Seen:
    """Report the share, and both tensors afterwards."""
    weights, lengths = inputs["weights"], inputs["lengths"]
    if "head" in inputs:  # as a map is cut out of those of all heads
        weights = torch.stack((-weights, weights, weights / 2), dim=1)[:, 1]
    return {
        **the_share(function(weights, lengths)),
        "weights afterwards": weights,
        "lengths afterwards": lengths,
    }
