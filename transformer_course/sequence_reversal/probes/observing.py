"""Constants and helpers that several probes of unit 05 share."""

from __future__ import annotations

from numbers import Real

import torch

from autograder.checks.exercise import WrongAnswerError
from autograder.checks.probes import describe

PAD, BOS, EOS, UNK, FIRST = 0, 1, 2, 3, 4


def read_number(result: object, name: str) -> float:
    """Convert a result to a float; raise WrongAnswerError if it is not a number."""
    if isinstance(result, torch.Tensor) and result.numel() == 1:
        return float(result)
    if isinstance(result, bool) or not isinstance(result, Real):  # NumPy's too
        raise WrongAnswerError(f"expected {name} as one number, got {describe(result)}")
    return float(result)


def hide_unlabelled(decoder_input: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    """Replace the ids of a decoder input by PAD wherever the label is PAD.

    There, a student's function may have any id.
    """
    if decoder_input.shape != labels.shape:
        return decoder_input
    return decoder_input.masked_fill(labels == PAD, PAD)
