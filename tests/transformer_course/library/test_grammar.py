"""Who does what belongs to one split, whatever its seed."""

from __future__ import annotations

from transformer_course.library.grammar import split_of


def test_a_triple_has_one_split_only():
    assert split_of("anna", "bake", "cake") == split_of("anna", "bake", "cake")
    found = [split_of("anna", "bake", str(i)) for i in range(2000)]
    assert 60 < found.count("test") < 140 and 60 < found.count("dev") < 140
