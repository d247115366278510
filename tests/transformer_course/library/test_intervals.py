"""Intervals hold what they should, and pairs tell more than two systems apart."""

from __future__ import annotations

import random

import pytest

from transformer_course.library import bleu, intervals
from transformer_course.library.intervals import Interval

TARGETS = [
    f"The baker number {i} sold {i * 7} warm cakes in Rome ." for i in range(300)
]


def noisy(share: float, seed: int) -> list[str]:
    draw = random.Random(seed)
    return [
        " ".join("x" if draw.random() < share else word for word in text.split())
        for text in TARGETS
    ]


def counts(share: float, seed: int):
    return bleu.counts(noisy(share, seed), TARGETS)


def test_the_value_is_the_corpus_bleu_within_its_interval():
    texts = noisy(0.1, 0)
    interval = intervals.bleu(bleu.counts(texts, TARGETS))
    assert interval.value == bleu.corpus(texts, TARGETS)
    assert interval.low < interval.value < interval.high < interval.low + 8


def test_a_few_sentences_leave_a_wider_interval():
    of = counts(0.1, 0)
    narrow_sample, many = intervals.bleu(of[:30]), intervals.bleu(of)
    assert narrow_sample.high - narrow_sample.low > 2 * (many.high - many.low)


def test_a_difference_is_found_where_there_is_one_and_only_there():
    better, worse = counts(0.05, 1), counts(0.15, 2)
    assert intervals.difference(better, worse).low > 0
    assert intervals.difference(worse, better).high < 0
    difference = intervals.difference(counts(0.1, 3), counts(0.1, 4))
    assert difference.low < 0 < difference.high


def test_pairs_are_surer_than_two_intervals():
    texts = noisy(0.3, 0)
    mended = [text.replace("x", "The", 1) for text in texts]
    of, against = bleu.counts(mended, TARGETS), bleu.counts(texts, TARGETS)
    paired, alone = intervals.difference(of, against), intervals.bleu(of)
    assert paired.high - paired.low < 0.8 * (alone.high - alone.low)


def test_the_same_seed_gives_the_same_interval():
    of = counts(0.1, 0)
    assert intervals.bleu(of, 1) == intervals.bleu(of, 1) != intervals.bleu(of, 2)


def test_other_sentences_are_no_pairs():
    with pytest.raises(ValueError, match="300 sentences, and 20 to compare with"):
        intervals.difference(counts(0.1, 0), counts(0.1, 0)[:20])


def test_an_interval_reads_as_one_line():
    assert str(Interval(87.25, 86.0, 88.04)) == "87.2 [86.0, 88.0]"
