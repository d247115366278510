"""Describe what a model that should reverse sequences does instead."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import nn

from autograder.checks.exercise import WrongAnswerError
from autograder.checks.probes import tensor
from transformer_course.sequence_reversal.probes.observing import BOS, EOS, FIRST, PAD

Decode = Callable[[nn.Module, torch.Tensor], torch.Tensor]


def read_logits(
    model: nn.Module, source: torch.Tensor, tokens: torch.Tensor
) -> torch.Tensor:
    """Compute a model's logits (B, Lt, V) without gradients, and check their shape."""
    with torch.no_grad():
        logits = tensor(model(source, tokens), "the logits")
    if logits.dim() != 3 or logits.shape[:2] != tokens.shape:
        raise WrongAnswerError(
            f"expected logits of shape (B, Lt, V) with B, Lt = {tuple(tokens.shape)}, "
            f"got {tuple(logits.shape)}"
        )
    return logits


def reverse_rows(source: torch.Tensor) -> torch.Tensor:
    """Reverse the symbols before EOS in each row (N, Ls); EOS and PAD stay in place."""
    lengths = (source == EOS).int().argmax(dim=1, keepdim=True)  # (N, 1)
    positions = torch.arange(source.size(1))
    mirrored = lengths - 1 - positions
    return source.gather(1, torch.where(mirrored >= 0, mirrored, positions))


def measure_share(source: torch.Tensor, rows: torch.Tensor) -> float:
    """The share of ``rows``, from 0 to 1, that are their source exactly reversed."""
    return (rows == reverse_rows(source)).all(dim=1).double().mean().item()


def describe_symptom(
    model: nn.Module, source: torch.Tensor, rows: torch.Tensor, decode: Decode
) -> str:
    """Describe in a few words what a model outputs for the sources, (N, Ls).

    ``rows`` are the decoded tokens, (N, Ls); ``decode`` decodes other sequences.
    The words hint at what may be wrong in the model.
    """
    right = measure_share(source, rows)
    if right >= 0.9:
        return "reverses"
    sample, written = source[:40], rows[:40]
    decoder_input = torch.cat(
        (torch.full((len(sample), 1), BOS), written[:, :-1]), dim=1
    )
    # Do the logits change if each row gets the source of another row?
    if not _differ(
        read_logits(model, sample, decoder_input),
        read_logits(model, sample.roll(1, 0), decoder_input),
    ):
        return "the source has no influence"
    # Do they change if the symbols of the source change their order?
    if not _differ(
        read_logits(model, sample, decoder_input),
        read_logits(model, _reorder_symbols(sample), decoder_input),
    ):
        return "the order of the source has no influence"
    runs = _make_runs(source.size(1))
    if measure_share(runs, decode(model, runs)) > 0.5 > right:
        return "runs of numbers only"
    if (written == sample).all(dim=1).double().mean() > 0.5:
        return "copies the source"
    symbols_right = (
        (written == reverse_rows(sample)) | (sample == EOS) | (sample == PAD)
    )
    if symbols_right.all(dim=1).double().mean() > 0.5 > right:
        return "the symbols are right, EOS is not"
    return "many rows are right" if right > 0.3 else "hardly any row is right"


def _differ(before: torch.Tensor, after: torch.Tensor) -> bool:
    """Whether logits differ at any position except the last."""
    return bool(((before - after)[:, :-1].abs() > 1e-3).any())


def _reorder_symbols(source: torch.Tensor) -> torch.Tensor:
    """The rows with their symbols in a different order; EOS and PAD stay in place."""
    return torch.cat((reverse_rows(source)[:, :-1], source[:, -1:]), dim=1)


def _make_runs(width: int) -> torch.Tensor:
    """Sources of at least two consecutive digits, (N, width), of all lengths that fit.

    They expose a model that reverses most of these, but not of other sources.
    """
    rows = [
        [*range(FIRST + start, FIRST + start + length), EOS]
        for length in range(2, width)
        for start in range(11 - length)
    ]
    return torch.tensor([row + [PAD] * (width - len(row)) for row in rows])
