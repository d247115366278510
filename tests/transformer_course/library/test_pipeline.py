"""What the pipeline leaves at each level."""

from __future__ import annotations

import pytest

from transformer_course.library.pipeline import damage


@pytest.mark.parametrize(
    ("level", "damaged"),
    [(1, "has anna lost her keys"), (2, "anna lost keys"), (3, "anna lose key")],
)
def test_each_level_leaves_less(level, damaged):
    assert damage("Has Anna lost her keys?", level) == damaged


def test_every_mark_separates_words_even_without_a_space():
    assert damage("Well -- yes,no: 'Go!'", 1) == "well yes no go"


def test_words_with_a_mark_inside_stay_whole():
    assert damage("My uncle didn't sing, did he?", 2) == "uncle didn't sing"


def test_another_level_is_refused():
    with pytest.raises(ValueError, match="the level is 1, 2 or 3, not 4"):
        damage("Go!", 4)
