"""What a model recovered, by ability and in colour."""

from __future__ import annotations

from transformer_course.library import abilities


def test_recall_by_ability():
    source, target = "anna baked cake", "Anna baked a cake."
    assert abilities.recall([source], [target], [target])["function words"] == 1.0
    recall = abilities.recall([source], [target], ["anna baked cake"])
    assert recall["case"] == recall["punctuation"] == recall["function words"] == 0.0


def test_colours_are_not_the_only_sign():
    page = abilities.coloured([("cake <hot>", "A cake.", "the cake!")])
    assert (
        "solid" in page and "dotted" in page and "[A]" in page and "<hot>" not in page
    )


def test_outputs_are_numbered():
    page = abilities.coloured([("cake", "A cake.", "the cake!")] * 3)
    assert [f">{number}</strong>" in page for number in range(5)] == [
        False, True, True, True, False
    ]  # fmt: skip
