"""Who does what belongs to one split, whatever its seed."""

from __future__ import annotations

from transformer_course.library.grammar import split_of


def test_a_triple_has_one_split_only():
    assert split_of("anna", "bake", "cake") == split_of("anna", "bake", "cake")
    splits = [split_of("anna", "bake", str(i)) for i in range(2000)]
    assert 60 < splits.count("test") < 140 and 60 < splits.count("dev") < 140
