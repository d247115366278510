"""How sure a BLEU is: the bootstrap over sentences, alone and of two systems in pairs.

Philipp Koehn, "Statistical Significance Tests for Machine Translation Evaluation",
EMNLP 2004. What is resampled are the counts of sentences, so no text is scored twice.
An interval covers the choice of sentences, and not that of the seed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from transformer_course.library.bleu import bleu_of

RESAMPLES = 1000


class Interval(NamedTuple):
    """A value and the ends of its 95% interval."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.value:.1f} [{self.low:.1f}, {self.high:.1f}]"


def bleu(counts: Tensor, seed: int = 0) -> Interval:
    """The BLEU of sentences with these `bleu.counts`, ``(n, 10)``."""
    scores = [bleu_of(total) for total in _resampled(len(counts), seed) @ counts]
    return _interval(bleu_of(counts.sum(0)), scores)


def difference(counts: Tensor, against: Tensor, seed: int = 0) -> Interval:
    """How much better the first texts are than others of the same sentences.

    Both are resampled together, since a hard sentence is hard for both.

    Raises:
        ValueError: they are not of the same number of sentences.
    """
    if len(counts) != len(against):
        raise ValueError(f"{len(counts)} sentences, and {len(against)} to compare with")
    draws = _resampled(len(counts), seed)
    pairs = zip(draws @ counts, draws @ against, strict=True)
    differences = [bleu_of(ours) - bleu_of(theirs) for ours, theirs in pairs]
    return _interval(bleu_of(counts.sum(0)) - bleu_of(against.sum(0)), differences)


def _resampled(n: int, seed: int) -> Tensor:
    """How often each of n sentences is drawn, ``(RESAMPLES, n)``, int64."""
    generator, chances = np.random.default_rng(seed), np.full(n, 1 / n)
    return torch.from_numpy(generator.multinomial(n, chances, RESAMPLES))


def _interval(value: float, samples: Sequence[float]) -> Interval:
    low, high = np.percentile(samples, [2.5, 97.5])
    return Interval(value, float(low), float(high))
