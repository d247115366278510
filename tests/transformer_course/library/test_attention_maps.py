"""The maps that ship show what units 2 and 3 say of them."""

from __future__ import annotations

import pytest
import torch

from transformer_course.library.attention_maps import SHIPPED, about, maps_of, sentences

CAT = "The cat didn't climb the tree because it was too {}."
ANIMAL = "The animal didn't cross the street because it was too {}."


def it_to(sentence: str, word: str) -> float:
    """The weight from "it" to a word in layer 5, head 11."""
    maps = maps_of(sentence)
    row = maps.weights[5, 11, maps.tokens.index("it")]
    return round(float(row[maps.tokens.index(word)]), 2)


def test_the_file_is_small_and_says_where_it_comes_from():
    assert SHIPPED.stat().st_size < 400_000
    assert about()["licence"] == "Apache-2.0" and "huggingface.co" in about()["source"]
    assert len(sentences()) == 10


@pytest.mark.parametrize("sentence", sentences())
def test_each_row_is_a_distribution_over_the_tokens(sentence):
    maps = maps_of(sentence)
    length = len(maps.tokens)
    assert maps.tokens[0] == "[CLS]" and maps.tokens[-1] == "[SEP]"
    assert maps.weights.shape == (6, 12, length, length)
    assert maps.weights.dtype == torch.float32
    torch.testing.assert_close(
        maps.weights.sum(-1), torch.ones(6, 12, length), rtol=0, atol=2e-3
    )


@pytest.mark.parametrize("sentence", sentences())
def test_two_heads_look_at_neighbours(sentence):
    weights = maps_of(sentence).weights
    assert weights[0, 2].diagonal(-1).mean() >= 0.9997
    following = weights.diagonal(1, 2, 3).mean(-1)
    assert divmod(int(following.argmax()), 12) == (1, 8)
    assert 0.5 < following.max() < 0.75


def test_the_head_that_resolves_it_does_not_flip():
    for adjective in ("scared", "tall"):
        assert it_to(CAT.format(adjective), "cat") == 0.62
        assert it_to(CAT.format(adjective), "tree") == 0.17
    assert it_to(ANIMAL.format("tired"), "animal") == 0.67
    assert it_to(ANIMAL.format("wide"), "animal") == 0.56
    assert it_to(ANIMAL.format("tired"), "street") == 0.02
    assert it_to(ANIMAL.format("wide"), "street") == 0.04


def test_an_unknown_sentence_is_answered_with_the_known_ones():
    with pytest.raises(ValueError, match=r"no maps of 'Hello'.*Dog bites man"):
        maps_of("Hello")
