"""Texts to tokens and back."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a

from autograder.library.text import (
    UNK,
    glue,
    lemma,
    pieces,
    tokenize_13a,
)
from tests.library.sentences import SENTENCES


@given(st.text(alphabet="abÉß1.,!'\"- ", max_size=40))
def test_pieces_lose_nothing_but_repeated_spaces(text):
    assert glue(pieces(text)) == " ".join(text.split())


def test_subwords_lose_nothing_of_known_characters(tokenizer):
    for text in SENTENCES:
        assert tokenizer.decode(tokenizer.encode(text)) == text
    assert UNK in tokenizer.encode("Œuvre")


def test_lemmas_come_offline():
    assert [lemma(w) for w in ("baked", "children", "mice")] == [
        "bake",
        "child",
        "mouse",
    ]


@settings(max_examples=500, deadline=None)
@given(st.text(alphabet="ab1.,-!&;\"'() <>/\n", max_size=30))
def test_13a_is_sacrebleus(text):
    expected = Tokenizer13a()(text.rstrip())
    assert tokenize_13a(text.rstrip()) == expected.split()
