"""A table of kinds says what is sorted, and what is not yet."""

from __future__ import annotations

from transformer_course.text_recovery.library import marks


def test_the_most_frequent_kind_comes_first_and_an_output_may_have_two():
    kinds = {"order": [3], "article | pronoun": [2, 1, 2], "not used": []}
    assert marks.table(kinds, 3).splitlines() == [
        "| kind | outputs | numbers |",
        "|:---|---:|:---|",
        "| article \\| pronoun | 2 | 1, 2 |",
        "| order | 1 | 3 |",
        "",
        "- All 3 outputs have a kind.",
    ]


def test_what_is_missing_and_what_there_is_not_are_named():
    table = marks.table({"order": [1, 9]}, 3)
    assert "2 of 3 outputs have no kind yet: 2, 3." in table
    assert "There is no output 9: they go from 1 to 3." in table
    assert "3 of 3 outputs have no kind yet" in marks.table({"a": []}, 3)
