"""What several probes of unit 05 know and look at."""

from __future__ import annotations

from numbers import Real

import torch

from autograder.checks.exercise import WrongAnswerError
from autograder.checks.probes import describe

PAD, BOS, EOS, UNK, FIRST = 0, 1, 2, 3, 4


def number(result: object, name: str) -> float:
    """A number that was returned.

    Raises:
        WrongAnswerError: it is none.
    """
    if isinstance(result, torch.Tensor) and result.numel() == 1:
        return float(result)
    if isinstance(result, bool) or not isinstance(result, Real):  # NumPy's are Real
        raise WrongAnswerError(f"expected {name} as one number, got {describe(result)}")
    return float(result)


def where_labelled(decoder_input: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    """Put PAD into a decoder input where no label is: any token may stand there."""
    if decoder_input.shape != labels.shape:
        return decoder_input
    return decoder_input.masked_fill(labels == PAD, PAD)
