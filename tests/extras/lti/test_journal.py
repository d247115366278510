"""What an LMS has accepted is noted for each assignment apart."""

import pytest

from autograder.course.errors import CourseError
from autograder.extras.lti.journal import Journal, digest


def test_entries_are_added_to_those_of_the_same_student(tmp_path):
    journal = Journal(tmp_path, "01_numbers", "here")
    assert journal.read() == {}
    journal.accept("ada", score=9.5, comment="c")
    journal.accept("ada", page="p")
    journal.accept("bob", score=1.0)
    journal.accept("eve", page="p")
    assert set(journal.read_scores()) == {"ada", "bob"}
    assert journal.read()["ada"] == {"score": 9.5, "comment": "c", "page": "p"}
    assert Journal(tmp_path, "01_numbers", "elsewhere").read() == {}


def test_a_damaged_journal_is_not_overwritten(tmp_path):
    journal = Journal(tmp_path, "01_numbers", "here")
    journal.path.parent.mkdir(parents=True)
    journal.path.write_text("{")
    with pytest.raises(CourseError, match="is damaged"):
        journal.accept("ada", score=1.0)
    assert journal.path.read_text() == "{"


def test_a_digest_tells_texts_apart():
    assert digest("a") == digest(b"a") != digest("b")
