"""The probe of the DPO loss, which reports what a student's function returns."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autograder.checks.probes import Inputs, Seen, probe
from autograder.checks.probes.default import observe_call


@probe(
    "assistant/dpo_loss",
    results="loss",
    calls="* afterwards",
    gradients="gradient of chosen; gradient of rejected",
)
def dpo_loss(function: Callable[..., Any], inputs: Inputs) -> Seen:
    """Report what the default probe reports, without gradients of the reference.

    A solution may treat the reference model's log-probabilities as constants.
    """
    observations = observe_call(function, inputs)
    for name in ("reference_chosen", "reference_rejected"):
        observations.pop(f"gradient of {name}", None)  # may be a constant
    return observations
