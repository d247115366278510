"""Mistakes are found by a cheapest alignment, and named by the first kind that fits."""

from __future__ import annotations

import functools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from transformer_course.text_recovery.library.mistakes import (
    KINDS,
    align,
    kind_of,
    mistakes_of,
)

tokens = st.lists(st.sampled_from("abc"), max_size=5)


def test_tokens_that_are_equal_are_paired():
    assert align(["baker", "sleeps"], ["the", "baker", "slept"]) == [
        (None, "the"), ("baker", "baker"), ("sleeps", "slept"),
    ]  # fmt: skip


@functools.cache
def distance(a: tuple[str, ...], b: tuple[str, ...]) -> int:
    """Levenshtein's distance, by its definition."""
    if not (a and b):
        return len(a) + len(b)
    changed = distance(a[1:], b[1:]) + (a[0] != b[0])
    return min(changed, distance(a[1:], b) + 1, distance(a, b[1:]) + 1)


@given(tokens, tokens)
def test_no_alignment_has_fewer_pairs_that_differ(output, original):
    pairs = align(output, original)
    assert [a for a, _ in pairs if a is not None] == output
    assert [b for _, b in pairs if b is not None] == original
    assert sum(a != b for a, b in pairs) == distance((*output,), (*original,))


@pytest.mark.parametrize(
    ("pair", "kind"),
    [
        (("The", "the"), "case"),
        ((None, ","), "punctuation"),
        (("...", "!"), "punctuation"),
        (("is", "was"), "function word"),
        (("The", None), "function word"),
        (("bakes", "Baked"), "form"),
        ((None, "cake"), "word"),
        (("cake", "the"), "word"),
    ],
)
def test_the_first_kind_that_fits_counts(pair, kind):
    assert kind_of(*pair) == kind


def test_mistakes_are_counted_over_all_sentences():
    outputs = ["the baker slept", "Anna sleeps."]
    originals = ["The baker slept.", "Anna sleeps."]
    counts = dict(zip(KINDS, mistakes_of(outputs, originals), strict=True))
    assert counts == dict.fromkeys(KINDS, 0) | {"case": 1, "punctuation": 1}
