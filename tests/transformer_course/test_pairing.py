"""Pairs of a pipeline fit, pairs of any other origin do not."""

from __future__ import annotations

import random

import pytest

from transformer_course.library import corpora
from transformer_course.library.pipeline import damage
from transformer_course.text_recovery.library import pairing
from transformer_course.text_recovery.library.own_corpus import FIT

TEXTS = corpora.generate("pairing", 120, "test")


@pytest.mark.parametrize("level", [1, 2, 3])
def test_what_the_pipeline_leaves_fits(level):
    assert pairing.fit([(damage(text, level), text) for text in TEXTS]) > 0.95


def test_other_pipelines_fit():
    draw = random.Random(0)
    stems = [(" ".join(w[:5] for w in damage(text, 2).split()), text) for text in TEXTS]
    lossy = [
        (" ".join(w for w in damage(text, 2).split() if draw.random() < 0.8), text)
        for text in TEXTS
    ]
    assert pairing.fit(stems) > 0.95
    assert pairing.fit(lossy) > 0.85 > FIT


def test_what_is_dropped_by_chance_does_not_fit():
    draw, words = random.Random(0), ["ba", "do", "ki", "lu", "na"]
    pairs = [
        (" ".join(draw.choices(words, k=4)), " ".join(draw.choices(words, k=30)))
        for _ in range(120)
    ]
    assert pairing.share_of_words(*zip(*pairs, strict=True)) > 0.9
    assert pairing.fit(pairs) < 0.1


def test_texts_of_other_sources_have_few_of_the_words():
    sources = [damage(text, 2) for text in TEXTS]
    assert pairing.share_of_words(sources, TEXTS) == 1.0
    assert pairing.share_of_words(sources, [*TEXTS[1:], TEXTS[0]]) < 0.1
    assert pairing.share_of_words([], []) == 0.0
