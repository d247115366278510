"""Sentences of every form are English."""

from __future__ import annotations

import re

from transformer_course.library.words import article


def test_articles_agree_with_the_next_word(parts):
    for sentence in parts["train"][:5000]:
        for word, following in re.findall(r"\b([Aa]n?) (\w+)", sentence):
            assert article(following) == word.lower(), sentence


def test_sentences_begin_and_end_as_sentences_do(parts):
    for sentence in parts["train"]:
        assert re.match(r'"?[A-Z].*[.?!]"?$', sentence), sentence
        assert "  " not in sentence and " ," not in sentence, sentence
        assert sentence.count('"') in (0, 2), sentence


def test_subjects_and_auxiliaries_agree(parts):
    wrong = re.compile(
        r"\b([A-Z]\w+ and [A-Z]\w+ (is|has|was|does)\b|(he|she|it) (are|were|have|do)\b"
        r"|they (is|was|has|does)\b|I (is|are|has)\b)"
    )
    assert not [s for s in parts["train"] if wrong.search(s)]
