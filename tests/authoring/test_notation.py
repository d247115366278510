"""The flat words of an exercise's file make the records that the engine reads."""

import pytest

from autograder.authoring.notation import edit, right, source, wrong
from autograder.authoring.specification import Edit, Variant


def test_a_mistake_has_its_words_and_its_ways_of_which_the_first_has_its_name():
    mistake = wrong(
        "shifted", "You shifted.", "Where to?", edit("a", "b"), source("x", "y")
    )
    assert (mistake.name, mistake.says, mistake.asks) == (
        "shifted",
        "You shifted.",
        "Where to?",
    )
    assert list(mistake.variants) == [
        Variant(name="shifted", edits=[Edit("a", "b")]),
        Variant(name="y", source="x"),
    ]


def test_several_edits_are_written_one_after_the_other():
    assert edit("a", "b", "c", "d", name="both") == Variant(
        name="both", edits=[Edit("a", "b"), Edit("c", "d")]
    )


def test_an_old_text_without_a_new_one_is_refused():
    with pytest.raises(ValueError):
        edit("a", "b", "c")


def test_a_solution_is_accepted_as_edits_or_as_code():
    added = Variant(name="added", edits=[Edit("2 * x", "x + x")])
    assert right("added", edit("2 * x", "x + x")) == added
    assert right("own", source("code")) == Variant(name="own", source="code")
