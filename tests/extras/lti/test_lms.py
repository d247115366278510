"""An archive that was fetched says whose files it has, and when they came."""

import json

import pytest

from autograder.classroom.lms.archive import NotPlacedError
from autograder.classroom.lms.layouts import all_layouts, detect
from autograder.classroom.lms.sources import Folder
from autograder.extras.lti import lms


@pytest.fixture
def archive(tmp_path):
    (tmp_path / "hand_in_of_7").mkdir()
    (tmp_path / "hand_in_of_7" / "a.ipynb").write_text("{}")
    person = {"name": "A\x1bda", "email": "", "time": "2026-11-20T13:03:59.5+01:00"}
    (tmp_path / "fetched.json").write_text(json.dumps({"7": person}))
    return tmp_path


def test_it_is_recognised_and_read(archive):
    (layout,) = lms.LAYOUTS
    assert layout in all_layouts() and detect(Folder(archive)) is layout
    ((person,), time) = layout.read_submitters(Folder(archive), ())["7"]
    assert (person.key, person.name) == ("7", "A?da")
    assert time.isoformat() == "2026-11-20T12:03:59"


def test_without_its_metadata_nothing_is_placed(archive):
    (archive / "fetched.json").unlink()
    (layout,) = lms.LAYOUTS
    with pytest.raises(NotPlacedError, match=r"has no fetched\.json"):
        layout.read_submitters(Folder(archive), ())


PERSON = {"name": "Ada", "email": "", "time": "2026-11-20T13:03:59+00:00"}


@pytest.mark.parametrize(
    "text",
    [
        "{",
        "[" * 50_000,
        "[]",
        '{"7": 1}',
        json.dumps({"7": {"name": "Ada"}}),
        json.dumps({"7": PERSON | {"name": None}}),
        json.dumps({"7": PERSON | {"time": "now"}}),
        json.dumps({"7": PERSON | {"time": "0001-01-01T00:00:00+14:00"}}),
    ],
)
def test_damaged_metadata_place_nothing(archive, text):
    (archive / "fetched.json").write_text(text)
    (layout,) = lms.LAYOUTS
    with pytest.raises(NotPlacedError, match=r"its fetched\.json cannot be read"):
        layout.read_submitters(Folder(archive), ())
