"""How probable a language model finds text that it has not seen."""

from __future__ import annotations

import math

import torch

from autograder.checks.exercise import Answers
from autograder.checks.measures import Measure, NotTheirsError

_LARGEST = 700.0  # nats; the perplexity of more is beyond the largest float


def _value(expected: Answers, actual: Answers) -> float:
    """The probability of the right byte in percent, as a geometric mean.

    ``nats`` is the mean price of a byte; its perplexity is 100 over this value. A model
    that sees the byte it should predict earns nothing.
    """
    if actual["likelihood"] == "the future moves the present":
        raise NotTheirsError("0: a later byte changes earlier logits")
    nats = actual["nats"]
    if not isinstance(nats, torch.Tensor) or nats.numel() != 1:
        return 0.0
    price = nats.item()
    return 100 * math.exp(-price) if price >= 0 else 0.0


def _details(expected: Answers, actual: Answers) -> dict[str, float]:
    """Perplexity and bits, for who thinks in those; nothing beyond numbers."""
    price = float(actual["nats"])  # type: ignore[arg-type]
    if not price < _LARGEST:  # also for NaN
        return {}
    return {"perplexity a byte": math.exp(price), "bits per byte": price / math.log(2)}


def _remark(expected: Answers, actual: Answers) -> str:
    found = _details(expected, actual)
    if not found:
        return "(its logits are huge or no numbers, as after training that diverged)"
    return (
        f"(percent for the right byte; perplexity {found['perplexity a byte']:.3f}, "
        f"{found['bits per byte']:.3f} bits per byte)"
    )


MEASURE = Measure(_value, _details, _remark)
