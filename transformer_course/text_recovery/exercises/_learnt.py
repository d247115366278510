"""Whether a model has learnt a corpus of one's own, or the corpus fits the model.

Its author writes sources and targets alike, so a good score alone shows no learning:
the targets could be what an untrained model answers. But whoever has learnt to recover
texts keeps the words of sources that nobody has written down before.
"""

from __future__ import annotations

import random
from collections.abc import Callable

import torch

from autograder.checks.exercise import WrongAnswerError
from transformer_course.library.model import Restorer
from transformer_course.text_recovery.library import own_corpus, pairing
from transformer_course.text_recovery.library.own_corpus import OwnCorpus

COUNT = 200  # sources that are made anew
CLEAR = 0.1  # of their words, by which a model has to be above both baselines
SHARE = 0.5  # of its lead on the test sources that it has to keep on new ones
Recover = Callable[[Restorer, list[str]], list[str]]


def refuse_unlearnt(
    model: Restorer, corpus: OwnCorpus, recover: Recover, parts: object, seed: int
) -> None:
    """Refuse a model that has not learnt the corpus.

    It is compared with an untrained model of its sizes, and with its own texts given
    to other sources: the hand-in can influence neither.

    Args:
        recover: the texts that a model makes of some sources.
        parts: the module with unit 4's `Transformer`.

    Raises:
        WrongAnswerError: it keeps hardly more of new sources' words than those.
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
    """Sources that the corpus does not have: halves of two of its sources each."""
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
