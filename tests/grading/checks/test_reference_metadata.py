"""What the references say of a unit's exercises, read without PyTorch."""

import json
import os
import shutil

import pytest

from autograder.checks import references
from autograder.course.errors import CourseError
from autograder.grading.checks import reference_metadata


def test_it_says_what_the_references_say():
    exercises = references.load("attention")
    assert reference_metadata.titles("attention") == {
        n: e.title for n, e in exercises.items()
    }
    assert set(reference_metadata.entries("attention")) == set(exercises)


def test_a_unit_that_is_not_here_has_no_exercises():
    assert (
        reference_metadata.entries("no_such_unit")
        == reference_metadata.titles("no_such_unit")
        == {}
    )


def test_numbers_are_those_of_the_last_build(tmp_path, monkeypatch):
    monkeypatch.setattr(reference_metadata, "_CONTENTS", tmp_path)
    assert reference_metadata.numbers("u") == {}
    path = tmp_path / "u.json"
    for time, number in ((1, "1.1"), (2, "1.2")):
        path.write_text(json.dumps({"places": {"u/double": {"number": number}}}))
        os.utime(path, (time, time))
        assert reference_metadata.numbers("u") == {"u/double": number}


def test_only_where_a_scale_goes_beyond_all_points_there_is_a_bonus(monkeypatch):
    cases = {
        "plain": [{"scale": []}],
        "measured": [{"scale": [[0.0, 0.0], [60.0, 1.0]]}, {"scale": []}],
        "with a bonus": [{"scale": [[0.0, 0.0], [60.0, 1.0], [80.0, 1.25]]}],
    }
    metadata = {
        f"u/{name}": {"cases": case_entries} for name, case_entries in cases.items()
    }
    monkeypatch.setattr(
        reference_metadata, "entries", lambda unit: metadata if unit == "u" else {}
    )
    most = {name: reference_metadata.largest_share(f"u/{name}") for name in cases}
    assert most == {"plain": 1.0, "measured": 1.0, "with a bonus": 1.25}


@pytest.mark.parametrize(
    ("suffix", "length"),
    [(".safetensors", 100_000), (".safetensors", 4), (".json", 1_000)],
)
def test_references_that_were_cut_off_are_refused_before_grading(
    tmp_path, monkeypatch, suffix, length
):
    for ending in (".safetensors", ".json"):
        shutil.copy(references.FOLDER / "public" / f"attention{ending}", tmp_path)
    monkeypatch.setattr(reference_metadata, "_PUBLIC", tmp_path)
    reference_metadata.refuse_damaged("attention")
    reference_metadata.refuse_damaged("no_such_unit")
    with (tmp_path / f"attention{suffix}").open("r+b") as file:
        file.truncate(length)
    with pytest.raises(CourseError, match="make build UNIT=attention") as error:
        reference_metadata.refuse_damaged("attention")
    assert "\n" not in str(error.value)
