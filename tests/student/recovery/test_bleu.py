"""BLEU from scratch equals sacrebleu."""

from __future__ import annotations

import random

import pytest
import sacrebleu
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.solutions.text_recovery import corpus_bleu
from autograder.student.recovery.text import tokenize_13a

words = st.sampled_from(
    ["the", "cat", "The", "sat", "on", "mat.", "3.5", "a,b", "(x)", "&"]
)
texts = st.lists(words, max_size=9).map(" ".join)


@st.composite
def corpora(draw):
    count, width = draw(st.integers(1, 6)), draw(st.integers(1, 3))
    row = st.lists(texts, min_size=width, max_size=width)
    return draw(st.lists(texts, min_size=count, max_size=count)), [
        draw(row) for _ in range(count)
    ]


def theirs(hypotheses, references, tokens, smooth, effective) -> float:
    streams = [list(stream) for stream in zip(*references, strict=True)]
    metric = sacrebleu.BLEU(
        tokenize=tokens, smooth_method=smooth, effective_order=effective
    )
    return metric.corpus_score(hypotheses, streams).score


@settings(max_examples=1000, deadline=None)
@given(
    corpora(),
    st.sampled_from(["none", "13a"]),
    st.sampled_from(["exp", "none"]),
    st.booleans(),
)
def test_equal_to_sacrebleu(corpus, tokens, smooth, effective):
    hypotheses, references = corpus
    tokenize = tokenize_13a if tokens == "13a" else str.split
    ours = corpus_bleu(hypotheses, references, tokenize, smooth, effective)
    assert ours == pytest.approx(
        theirs(hypotheses, references, tokens, smooth, effective), abs=1e-9
    )


@pytest.mark.parametrize("effective", [False, True])
@pytest.mark.parametrize("smooth", ["exp", "none"])
@pytest.mark.parametrize("tokens", ["none", "13a"])
def test_equal_on_thousands_of_random_corpora(tokens, smooth, effective):
    draw = random.Random(f"{tokens} {smooth} {effective}")
    vocabulary = [
        "the",
        "a",
        "cat",
        "Cat",
        "dog,",
        "dog",
        "sat.",
        "3.14",
        "(so)",
        "don't",
    ]
    tokenize = tokenize_13a if tokens == "13a" else str.split

    def text() -> str:
        return " ".join(draw.choices(vocabulary, k=draw.randint(0, 14)))

    for _ in range(500):
        count, width = draw.randint(1, 12), draw.randint(1, 3)
        references = [[text() for _ in range(width)] for _ in range(count)]
        hypotheses = [
            draw.choice([text(), row[0], row[-1] + " so"]) for row in references
        ]
        ours = corpus_bleu(hypotheses, references, tokenize, smooth, effective)
        expected = theirs(hypotheses, references, tokens, smooth, effective)
        assert ours == pytest.approx(expected, abs=1e-9)


@settings(max_examples=500, deadline=None)
@given(st.text(alphabet="ab1.,-!&;\"'() <>/\n", max_size=30))
def test_13a_is_sacrebleus(text):
    expected = sacrebleu.tokenizers.tokenizer_13a.Tokenizer13a()(text.rstrip())
    assert tokenize_13a(text.rstrip()) == expected.split()
