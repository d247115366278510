"""Confidence intervals of BLEU: the bootstrap for one system, and paired for two.

Philipp Koehn, "Statistical Significance Tests for Machine Translation
Evaluation", EMNLP 2004. The intervals leave out the variance from the seed.
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
    """BLEU and its interval for sentences with these `bleu.counts`, ``(n, 10)``."""
    scores = [bleu_of(total) for total in _draw_resamples(len(counts), seed) @ counts]
    return _make_interval(bleu_of(counts.sum(0)), scores)


def difference(counts: Tensor, against: Tensor, seed: int = 0) -> Interval:
    """Return the difference in BLEU of two systems, with its interval.

    Args:
        counts: `bleu.counts` of the first system's texts, ``(n, 10)``.
        against: those of the second for the same sentences; its BLEU is subtracted.

    Raises:
        ValueError: the two have different numbers of sentences.
    """
    if len(counts) != len(against):
        raise ValueError(f"{len(counts)} sentences, and {len(against)} to compare with")
    draws = _draw_resamples(len(counts), seed)
    pairs = zip(draws @ counts, draws @ against, strict=True)
    differences = [bleu_of(ours) - bleu_of(theirs) for ours, theirs in pairs]
    return _make_interval(bleu_of(counts.sum(0)) - bleu_of(against.sum(0)), differences)


def _draw_resamples(n: int, seed: int) -> Tensor:
    """How often each of n sentences is in each resample, ``(RESAMPLES, n)``, int64."""
    generator, probabilities = np.random.default_rng(seed), np.full(n, 1 / n)
    return torch.from_numpy(generator.multinomial(n, probabilities, RESAMPLES))


def _make_interval(value: float, samples: Sequence[float]) -> Interval:
    """A value with the 95% interval of bootstrap samples."""
    low, high = np.percentile(samples, [2.5, 97.5])
    return Interval(value, float(low), float(high))
