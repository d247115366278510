"""The probe of the GRPO loss, which reports what a student's function returns."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autograder.checks.probes import Inputs, Seen, probe
from autograder.checks.probes.default import observe_call


@probe(
    "assistant/grpo_loss",
    results="loss",
    calls="* afterwards",
    gradients="gradient of logits",
)
def grpo_loss(function: Callable[..., Any], inputs: Inputs) -> Seen:
    """Report what the default probe reports, without gradients of the advantages.

    They are left out because a solution may treat the advantages as constants.
    """
    observations = observe_call(function, inputs)
    observations.pop("gradient of advantages", None)  # may be constants
    return observations
