"""The measure of a language model: the probability it assigns to unseen text."""

from __future__ import annotations

import math

import torch

from autograder.checks.exercise import Answers
from autograder.checks.measures import Measure, RejectedAnswerError

_LARGEST = 700.0  # nats; above it, the perplexity exceeds the largest float


def _compute_probability(expected: Answers, actual: Answers) -> float:
    """Return the geometric mean of the probability of the correct byte, in percent.

    Raises:
        RejectedAnswerError: in the student's model, a later byte changes earlier
            logits.
    """
    if actual["likelihood"] == "the future moves the present":
        raise RejectedAnswerError("0: a later byte changes earlier logits")
    nats = actual["nats"]
    if not isinstance(nats, torch.Tensor) or nats.numel() != 1:
        return 0.0
    loss = nats.item()
    # NaN fails the comparison, so it earns nothing.
    return 100 * math.exp(-loss) if loss >= 0 else 0.0


def _compute_details(expected: Answers, actual: Answers) -> dict[str, float]:
    """Return perplexity and bits per byte by name; nothing for a huge or NaN loss."""
    loss = float(actual["nats"])  # type: ignore[arg-type]
    if not loss < _LARGEST:  # also for NaN
        return {}
    return {"perplexity per byte": math.exp(loss), "bits per byte": loss / math.log(2)}


def _write_remark(expected: Answers, actual: Answers) -> str:
    """Return a note to follow the percentage: its meaning, perplexity, bits per byte.

    If the loss is huge or NaN, the note says so instead.
    """
    details = _compute_details(expected, actual)
    if not details:
        return "(its logits are huge or NaN, as after a training run that diverged)"
    return (
        "(percent for the correct byte; "
        f"perplexity {details['perplexity per byte']:.3f}, "
        f"{details['bits per byte']:.3f} bits per byte)"
    )


MEASURE = Measure(_compute_probability, _compute_details, _write_remark)
