"""The reference decodes what is most probable, and its BLEU is sacrebleu's."""

from __future__ import annotations

import itertools
import random

import pytest
import sacrebleu
import torch

from transformer_course.library.text import BOS, EOS, tokenize_13a
from transformer_course.solutions.text_recovery import beam_search, bleu
from transformer_course.text_recovery.probes.decoding import Script


def test_a_beam_wide_enough_finds_the_most_probable_text():
    torch.manual_seed(7)
    script = Script(3 * torch.randn(1, 4, 6), torch.randn(6, 6))
    source, longest = torch.tensor([[4, 5]]), 3
    found = beam_search(script, source, beam_size=500, max_len=longest, alpha=0.0)

    @torch.no_grad()
    def score(tokens: tuple[int, ...]) -> float:
        begun = torch.tensor([[BOS, *tokens[:-1]]])
        log_p = script(source, begun)[0].log_softmax(-1)
        return sum(float(log_p[t, token]) for t, token in enumerate(tokens))

    others = [i for i in range(6) if i != EOS]
    texts = [
        (*start, EOS)
        for length in range(longest)
        for start in itertools.product(others, repeat=length)
    ]
    assert tuple(found[0].tolist()) == max(texts, key=score)


def theirs(hypotheses, references, tokens) -> float:
    metric = sacrebleu.BLEU(tokenize=tokens, smooth_method="none")
    return metric.corpus_score(hypotheses, [references]).score


@pytest.mark.parametrize("tokens", ["none", "13a"])
def test_bleu_is_sacrebleus_on_500_random_corpora(tokens):
    draw = random.Random(tokens)
    vocabulary = [
        "the", "a", "cat", "Cat", "dog,", "dog", "sat.", "3.14", "(so)", "don't",
    ]  # fmt: skip
    tokenize = tokenize_13a if tokens == "13a" else str.split

    def text() -> str:
        return " ".join(draw.choices(vocabulary, k=draw.randint(0, 14)))

    for _ in range(500):
        references = [text() for _ in range(draw.randint(1, 12))]
        hypotheses = [draw.choice([text(), one, one + " so"]) for one in references]
        ours = bleu(hypotheses, references, tokenize)
        assert ours == pytest.approx(theirs(hypotheses, references, tokens), abs=1e-9)
