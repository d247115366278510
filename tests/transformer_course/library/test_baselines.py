"""What a model has to beat."""

from __future__ import annotations

from transformer_course.library import baselines

PAIRS = [
    ("baker bake cake", "The baker will bake a cake."),
    ("baker bake bread", "The baker can bake bread."),
    ("anna bake cake", "Anna will bake a cake!"),
]


def test_copying_changes_nothing():
    assert baselines.copy("baker sell cake") == "baker sell cake"


def test_the_rule_knows_where_a_sentence_begins_and_ends():
    assert baselines.rule("baker sell cake") == "Baker sell cake."
    assert baselines.rule("") == "."


def test_between_two_words_stands_what_stood_there_most_often():
    insert = baselines.Insertion(PAIRS)
    assert insert("baker bake cake") == "The baker will bake a cake."
    assert insert("anna bake bread") == "Anna will bake bread."


def test_where_only_the_word_on_the_right_is_known_that_one_decides():
    insert = baselines.Insertion(PAIRS)
    assert insert("uncle bake cake") == "uncle will bake a cake."


def test_nothing_is_learnt_behind_a_word_in_another_form():
    insert = baselines.Insertion([("baker bake cake", "The baker baked a cake.")])
    assert insert("baker bake cake") == "The baker bake cake"
