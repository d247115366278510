"""Texts to tokens and back."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a

from tests.transformer_course.library.sentences import SENTENCES
from transformer_course.library.text import (
    BOS,
    EOS,
    PAD,
    UNK,
    WordTokenizer,
    glue,
    lemma,
    pieces,
    tokenize_13a,
    tokenizer_from_json,
)
from transformer_course.solutions.text_recovery import segment


@given(st.text(alphabet="abÉß1.,!'\"- ", max_size=40))
def test_pieces_lose_nothing_but_repeated_spaces(text):
    assert glue(pieces(text)) == " ".join(text.split())


def test_subwords_lose_nothing_of_known_characters(tokenizer):
    for text in SENTENCES:
        assert tokenizer.decode(tokenizer.encode(text)) == text
    assert UNK in tokenizer.encode("Œuvre")


def test_rare_words_are_unknown_and_frequent_ones_come_first():
    tokenizer = WordTokenizer.learn(["a b b.", "c a b"], min_freq=2)
    assert tokenizer.vocab[4:] == ["▁b", "▁a"]
    assert tokenizer.encode("b a c") == [4, 5, UNK]
    assert tokenizer.decode([BOS, 4, UNK, PAD, 5, EOS, 4]) == "b <unk> a"


def test_a_tokenizer_comes_back_from_its_text(tokenizer):
    words = WordTokenizer.learn(SENTENCES, min_freq=1)
    for original in (words, tokenizer):
        restored = tokenizer_from_json(original.to_json(), segment)
        assert type(restored) is type(original)
        assert restored.vocab == original.vocab
        assert restored.encode(SENTENCES[0]) == original.encode(SENTENCES[0])


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
