"""The ready-made pipeline leaves what the exercise's leaves."""

from __future__ import annotations

import pytest

from transformer_course.library import corpora
from transformer_course.library.corpora import closed_class
from transformer_course.library.pipeline import damage
from transformer_course.library.text import lemma
from transformer_course.solutions.text_recovery import preprocess


@pytest.mark.parametrize("level", [1, 2, 3])
def test_it_is_the_exercise_s(level):
    for sentence in corpora.generate("pipeline", 200, "test"):
        expected = preprocess(sentence, level, closed_class(), lemma)
        assert damage(sentence, level) == expected


def test_words_with_a_mark_inside_stay_whole():
    assert damage("My uncle didn't sing, did he?", 2) == "uncle didn't sing"


def test_another_level_is_refused():
    with pytest.raises(ValueError, match="the level is 1, 2 or 3, not 4"):
        damage("Go!", 4)
