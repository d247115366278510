"""A preprocessing pipeline that damages the sentences of the project's corpora."""

from __future__ import annotations

from transformer_course.library.abilities import words
from transformer_course.library.corpora import all_function_words
from transformer_course.library.text import lemma

LEVELS = (1, 2, 3)


def damage(sentence: str, level: int) -> str:
    """Return the words of a sentence that remain at this level, separated by spaces.

    Level 1 removes punctuation and upper case, and level 2 also function words.
    Level 3 also replaces words by their lemmas, and needs the package `simplemma`.
    Raises ValueError for any other level.
    """
    if level not in LEVELS:
        raise ValueError(f"the level is 1, 2 or 3, not {level!r}")
    tokens = [word.lower() for word in words(sentence) if word[0].isalnum()]
    if level > 1:
        tokens = [word for word in tokens if word not in all_function_words()]
    return " ".join(map(lemma, tokens) if level > 2 else tokens)
