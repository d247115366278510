"""BLEU of summed counts is sacrebleu's BLEU of the corpus."""

from __future__ import annotations

import sacrebleu
import torch
from hypothesis import given
from hypothesis import strategies as st

from transformer_course.library import bleu

WORDS = st.lists(
    st.sampled_from(["the", "The", "cat", "sat", ",", "on", "mat", "."]), max_size=9
)
ROWS = st.lists(st.tuples(WORDS, WORDS.filter(bool)), min_size=1, max_size=5)


@given(ROWS)
def test_counts_add_up_to_the_corpus(rows):
    hypotheses, references = ([" ".join(side) for side in s] for s in zip(*rows))  # noqa: B905
    counts = bleu.counts(hypotheses, references)
    assert counts.shape == (len(rows), 10)
    assert counts.dtype == torch.int64
    expected = sacrebleu.corpus_bleu(hypotheses, [references]).score
    assert bleu.bleu_of(counts.sum(0)) == bleu.corpus(hypotheses, references)
    assert abs(bleu.corpus(hypotheses, references) - expected) < 1e-9
