"""The probe of the repetition penalty."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autograder.checks.probes import Inputs, Seen, options, probe, tensor


@probe(
    "since_2017/repetition_penalty",
    results="probabilities; probabilities of one text alone",
    calls="* afterwards",
)
def repetition_penalty(function: Callable[..., Any], inputs: Inputs) -> Seen:
    """The softmax of the new logits, that of one text alone, and both inputs.

    Logits mean the same with a constant added, so only their softmax is compared.
    """
    logits, written, given = inputs["logits"], inputs["written"], options(inputs)
    alone = logits[-1:].clone(), written[-1:].clone()
    result = tensor(function(logits, written, **given), "the new logits")
    single = tensor(function(*alone, **given), "the new logits")
    return {
        "probabilities": result.softmax(-1),
        "probabilities of one text alone": single.softmax(-1),
        "logits afterwards": logits,
        "written afterwards": written,
    }
