"""BLEU by sacrebleu, from the n-gram counts of each sentence.

A corpus's counts are the sum of these, so a bootstrap scores each text once.
"""

from __future__ import annotations

from collections.abc import Sequence

import sacrebleu
import torch
from torch import Tensor

# effective_order prevents sacrebleu's warning about sentences; it changes no counts.
_METRIC = sacrebleu.BLEU(effective_order=True)


def corpus(hypotheses: Sequence[str], references: Sequence[str]) -> float:
    """BLEU (13a, case-sensitive) of a corpus with one reference per sentence."""
    return bleu_of(counts(hypotheses, references).sum(0))


def counts(hypotheses: Sequence[str], references: Sequence[str]) -> Tensor:
    """A row of counts for each sentence, `(n, 10)`, int64.

    A row contains the matched n-grams for n from 1 to 4, all n-grams of the hypothesis
    for the same n, and the lengths of the hypothesis and of the reference.
    """
    rows = []
    for hypothesis, reference in zip(hypotheses, references, strict=True):
        score = _METRIC.sentence_score(hypothesis, [reference])
        rows.append([*score.counts, *score.totals, score.sys_len, score.ref_len])
    return torch.tensor(rows, dtype=torch.int64).reshape(-1, 10)


def bleu_of(total: Tensor) -> float:
    """BLEU of summed counts `(10,)`, between 0 and 100; with "exp" smoothing."""
    numbers = [int(number) for number in total]
    score = sacrebleu.BLEU.compute_bleu(
        numbers[:4], numbers[4:8], numbers[8], numbers[9], smooth_method="exp"
    )
    return float(score.score)
