"""What a collection notes is there for the next one, also of another version."""

from __future__ import annotations

import pytest

from autograder.classroom import collection_log
from autograder.classroom.collection_log import Note
from autograder.course.errors import CourseError

ADA = Note("lms", "2026-11-01T22:59:01", "Canvas", "ada_1_2_x.ipynb", True, 2)


def test_each_student_has_the_note_that_was_written_last(tmp_path):
    for student, note in (("ada", Note()), ("bob", Note(lms="Moodle")), ("ada", ADA)):
        collection_log.write(tmp_path, "01_numbers", student, note)
    collection_log.write(tmp_path, "02_attention", "ada", Note())
    assert collection_log.read(tmp_path, "01_numbers") == {
        "ada": ADA,
        "bob": Note(lms="Moodle"),
    }


def test_where_nothing_was_collected_nothing_is_noted(tmp_path):
    assert collection_log.read(tmp_path, "01_numbers") == {}


def test_what_another_version_noted_beside_is_passed_over(tmp_path):
    collection_log.write(tmp_path, "01_numbers", "ada", ADA)
    (path,) = (tmp_path / ".autograder" / "collected").iterdir()
    path.write_text(path.read_text().replace('"late"', '"mood": "good",\n"late"'))
    assert collection_log.read(tmp_path, "01_numbers") == {"ada": ADA}


def test_notes_that_cannot_be_read_are_not_overwritten(tmp_path):
    collection_log.write(tmp_path, "01_numbers", "ada", ADA)
    (path,) = (tmp_path / ".autograder" / "collected").iterdir()
    path.write_text("{")
    with pytest.raises(CourseError, match="damaged"):
        collection_log.write(tmp_path, "01_numbers", "bob", Note())
    assert path.read_text() == "{"
