"""How probable a language model finds text that it has not seen."""

from __future__ import annotations

import math

import torch

from autograder.checks.exercise import Answers
from autograder.checks.measures import Measure, NotTheirsError

_LARGEST = 700.0  # nats; the perplexity of more is beyond the largest float


def _value(expected: Answers, actual: Answers) -> float:
    """The probability of the right byte in percent, as a geometric mean.

    ``nats`` is the mean loss of a byte; its perplexity is 100 over this value. A model
    that sees the byte it should predict earns nothing.
    """
    if actual["likelihood"] == "the future moves the present":
        raise NotTheirsError("0: a later byte changes earlier logits")
    nats = actual["nats"]
    if not isinstance(nats, torch.Tensor) or nats.numel() != 1:
        return 0.0
    loss = nats.item()
    return 100 * math.exp(-loss) if loss >= 0 else 0.0


def _details(expected: Answers, actual: Answers) -> dict[str, float]:
    """Perplexity and bits per byte; nothing beyond the range of floats."""
    loss = float(actual["nats"])  # type: ignore[arg-type]
    if not loss < _LARGEST:  # also for NaN
        return {}
    return {"perplexity per byte": math.exp(loss), "bits per byte": loss / math.log(2)}


def _remark(expected: Answers, actual: Answers) -> str:
    details = _details(expected, actual)
    if not details:
        return "(its logits are huge or NaN, as after a training run that diverged)"
    return (
        "(percent for the correct byte; "
        f"perplexity {details['perplexity per byte']:.3f}, "
        f"{details['bits per byte']:.3f} bits per byte)"
    )


MEASURE = Measure(_value, _details, _remark)
