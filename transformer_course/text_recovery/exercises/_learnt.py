"""Check that a model has really learnt a student's corpus.

A good score alone does not prove this: the student's targets could be the
output of an untrained model. But a trained one also keeps new sources' words.
"""

from __future__ import annotations

import random
from collections.abc import Callable

import torch

from autograder.checks.exercise import WrongAnswerError
from transformer_course.library.model import Restorer
from transformer_course.text_recovery.library import own_corpus, pairing
from transformer_course.text_recovery.library.own_corpus import OwnCorpus

COUNT = 200  # new sources
CLEAR = 0.1  # the lead over both baselines that a model needs, as a share of words
SHARE = 0.5  # the share of its lead on test sources that it needs on new sources
Recover = Callable[[Restorer, list[str]], list[str]]


def refuse_unlearnt(
    model: Restorer, corpus: OwnCorpus, recover: Recover, parts: object, seed: int
) -> None:
    """Raise WrongAnswerError for a model that has not learnt the corpus.

    On new sources, its texts must keep clearly more words than those of an
    untrained model, and than its own texts assigned to other sources.

    Args:
        recover: computes a model's texts for some sources.
        parts: the module with unit 4's `Transformer`.
    """
    new = new_sources(corpus, seed)
    usual = [source for source, _ in corpus.draw_pairs(seed)[:COUNT]]
    texts = recover(model, new)
    torch.manual_seed(seed)
    untrained = Restorer(model.sizes, parts).eval()  # type: ignore[arg-type]
    floor = max(
        pairing.share_of_words(new, recover(untrained, new)),
        pairing.share_of_words(new, [*texts[1:], *texts[:1]]),
    )
    kept_share = pairing.share_of_words(new, texts)
    lead = pairing.share_of_words(usual, recover(model, usual)) - floor
    if kept_share < floor + max(CLEAR, SHARE * lead):
        raise WrongAnswerError(
            f"this model has not learnt {own_corpus.FILE}: of new sources, made of "
            f"halves of yours, its texts have {kept_share:.0%} of the words. An untrained "
            f"model, or texts in another order, have {floor:.0%}"
        )


def new_sources(corpus: OwnCorpus, seed: int) -> list[str]:
    """Make sources that are neither in test nor in train, each from halves of two sources in these.

    If two halves happen to make a known source, the two whole sources are joined instead.
    """
    draw = random.Random(seed)
    sources = [source for source, _ in (*corpus.test, *corpus.train)]
    known_sources = set(sources)
    fresh_sources: dict[str, None] = {}
    while len(fresh_sources) < COUNT:
        first, second = (source.split() for source in draw.sample(sources, 2))
        halves = [*first[: (len(first) + 1) // 2], *second[len(second) // 2 :]]
        crossed = " ".join(halves)
        if crossed in known_sources:
            crossed = " ".join((*first, *second))
        if crossed not in known_sources:
            fresh_sources[crossed] = None
    return list(fresh_sources)
