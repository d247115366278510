"""What tests of unit 05's solutions share: models and fresh sequences."""

from __future__ import annotations

import functools
import random

import torch.nn.functional as F
from torch import Tensor, nn

from transformer_course.solutions import sequence_reversal as unit


def score(model: nn.Module, sequences: list[list[int]]) -> float:
    """The fraction of sequences that greedy decoding reverses as a whole."""
    return exact_match(model, *unit.make_batch(sequences))


def exact_match(model: nn.Module, source: Tensor, target: Tensor) -> float:
    """The fraction of rows that greedy decoding writes as in the target."""
    labels = target[:, 1:]
    decoded = unit.greedy_decode(model, source, labels.size(1))
    decoded = F.pad(decoded, (0, labels.size(1) - decoded.size(1)), value=unit.PAD)
    return (decoded == labels).all(dim=1).double().mean().item()


@functools.cache
def trained(seed: int) -> nn.Module:
    """The reference of one seed."""
    return unit.trained_model(seed)


def fresh(seed: int, count: int = 2000) -> list[list[int]]:
    return unit.random_sequences(count, random.Random(f"fresh {seed}"))
