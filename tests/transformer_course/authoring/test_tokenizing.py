"""The quick way to cut words into symbols is the course's way."""

from hypothesis import given
from hypothesis import strategies as st

from transformer_course.authoring.tokenizing import Segmenter
from transformer_course.solutions.text_recovery import segment

SYMBOLS = st.text("abc", min_size=1, max_size=3)
MERGES = st.lists(st.tuples(SYMBOLS, SYMBOLS), max_size=12)


@given(word=st.text("abcd", max_size=12), merges=MERGES)
def test_both_apply_any_merges_in_their_order(word: str, merges: list) -> None:
    assert Segmenter()(word, merges) == segment(word, merges)


def test_a_pair_that_comes_twice_in_the_list_is_merged_twice() -> None:
    merges = [("a", "b"), ("c", "c"), ("a", "b")]
    assert Segmenter()("abccab", merges) == ["ab", "cc", "ab"]


def test_merges_of_the_course_give_the_same_symbols() -> None:
    merges = [("l", "o"), ("lo", "w"), ("e", "r"), ("low", "er"), ("n", "e")]
    quick = Segmenter()
    for word in ("lower", "lowlower", "newer", "", "w"):
        assert quick(word, merges) == segment(word, merges)
        assert quick(word, merges[:2]) == segment(word, merges[:2])
