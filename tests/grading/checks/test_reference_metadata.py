"""What the references say of a unit's exercises, read without PyTorch."""

from __future__ import annotations

from autograder.checks import references
from autograder.grading.checks import reference_metadata


def test_it_says_what_the_references_say():
    known = references.load("attention")
    assert reference_metadata.titles("attention") == {
        n: e.title for n, e in known.items()
    }
    assert set(reference_metadata.entries("attention")) == set(known)


def test_a_unit_that_is_not_here_has_no_exercises():
    assert (
        reference_metadata.entries("no_such_unit")
        == reference_metadata.titles("no_such_unit")
        == {}
    )


def test_only_where_a_scale_goes_beyond_all_points_there_is_a_bonus(monkeypatch):
    cases = {
        "plain": [{"scale": []}],
        "measured": [{"scale": [[0.0, 0.0], [60.0, 1.0]]}, {"scale": []}],
        "with a bonus": [{"scale": [[0.0, 0.0], [60.0, 1.0], [80.0, 1.25]]}],
    }
    made = {f"u/{name}": {"cases": found} for name, found in cases.items()}
    monkeypatch.setattr(
        reference_metadata, "entries", lambda unit: made if unit == "u" else {}
    )
    most = {name: reference_metadata.most(f"u/{name}") for name in cases}
    assert most == {"plain": 1.0, "measured": 1.0, "with a bonus": 1.25}
