"""What grading noted in a notebook is read here, whatever version noted it."""

from __future__ import annotations

import json

import pytest

from autograder.classroom import noted
from autograder.course.errors import CourseError
from autograder.grading.judge.record import CaseRecord, Record

RECORD = Record(
    "n/double", 1.0, 2.0, "tripled", cases=(CaseRecord("a", "a vector", "", True),)
)


@pytest.fixture
def path(tmp_path):
    folder = tmp_path / "autograded" / "ada" / "01_numbers"
    folder.mkdir(parents=True)
    return folder / "01_numbers.ipynb"


def test_records_come_back_as_they_were_noted(path):
    note = {"checks": {"n-double": RECORD.to_json()}}
    path.write_text(json.dumps({"metadata": {"autograder": note}}))
    assert noted.records(noted.note_of(noted.read(path))) == {"n-double": RECORD}


def test_a_notebook_without_a_note_has_an_empty_one(path):
    path.write_text('{"metadata": {}}')
    note = noted.note_of(noted.read(path))
    assert note == {} and noted.records(note) == {}


@pytest.mark.parametrize("text", ["", "no JSON", "{}", None])
def test_what_cannot_be_read_says_how_to_grade_it_again(path, text):
    if text is not None:
        path.write_text(text)
    with pytest.raises(CourseError) as error:
        noted.read(path)
    assert "nbgrader autograde 01_numbers --student=ada --force" in str(error.value)


@pytest.mark.parametrize(
    ("box", "level"),
    [
        ({"level": "namespaces", "grouped": True}, "namespaces"),
        ({"level": "landlock"}, "landlock"),  # noted before groups were
        ({"level": "landlock", "grouped": False}, "landlock, no control group"),
        ({"level": "none", "grouped": False}, "none"),
    ],
)
def test_the_level_of_a_box_says_whether_the_kernel_counted(box, level):
    assert noted.isolation({"box": box}) == level
