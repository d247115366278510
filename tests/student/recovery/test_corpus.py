"""The embedded corpus: the same everywhere, natural, and without a leak."""

from __future__ import annotations

import re

import pytest

from autograder.student.recovery import corpora
from autograder.student.recovery.abilities import left
from autograder.student.recovery.grammar import split_of
from autograder.student.recovery.words import (
    article,
    ing_of,
    past_of,
    plural_of,
    topics,
)

TRAIN_SUM = "a8bdc16c5753435165633d3cc914428c995da48dfa00eec73f3640da2ea746b2"
TEST_SUM = "016866427bdb1a180551ef0d8480fb1205d8e19254b37f9eb32a0f477e5d59ab"


@pytest.fixture(scope="module")
def parts():
    return corpora.embedded()


def test_the_corpus_is_the_same_everywhere(parts):
    assert corpora.checksum(parts["train"]) == TRAIN_SUM
    assert corpora.checksum(parts["test"]) == TEST_SUM


def test_sizes_and_no_repetition(parts):
    assert {name: len(part) for name, part in parts.items()} == corpora.SIZES
    assert all(len(set(part)) == len(part) for part in parts.values())


def test_it_has_between_1300_and_2000_words(parts):
    words = {w.lower() for s in parts["train"] for w in re.findall(r"[A-Za-z'-]+", s)}
    assert 1300 <= len(words) <= 2000


def test_no_test_sentence_and_no_test_source_is_in_train(parts):
    train = set(parts["train"])
    sources = {left(sentence) for sentence in parts["train"]}
    assert not train & set(parts["test"])
    assert not any(left(sentence) in sources for sentence in parts["test"])


def test_a_test_set_of_another_seed_is_new_as_well(parts):
    sources = {left(sentence) for sentence in parts["train"]}
    fresh = corpora.generate("another seed", 300, "test")
    assert not any(left(sentence) in sources for sentence in fresh)


def test_a_triple_has_one_split_only():
    assert split_of("anna", "bake", "cake") == split_of("anna", "bake", "cake")
    found = [split_of("anna", "bake", str(i)) for i in range(2000)]
    assert 60 < found.count("test") < 140 and 60 < found.count("dev") < 140


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


def test_inflection():
    assert [plural_of(w) for w in ("fox", "berry", "boy", "fisherman")] == [
        "foxes",
        "berries",
        "boys",
        "fishermen",
    ]
    assert [past_of(w) for w in ("bake", "carry", "play", "open")] == [
        "baked",
        "carried",
        "played",
        "opened",
    ]
    assert [ing_of(w) for w in ("bake", "run", "open", "see", "plan", "forget")] == [
        "baking",
        "running",
        "opening",
        "seeing",
        "planning",
        "forgetting",
    ]


def test_each_topic_is_complete():
    for topic in topics():
        assert len(topic.people) >= 5 and len(topic.places) >= 5, topic.name
        assert len(topic.verbs) >= 10 and topic.acts and topic.gifts, topic.name
        assert all(topic.there) and len(topic.because) >= 4, topic.name
        assert all(verb.objects for verb in topic.verbs), topic.name
