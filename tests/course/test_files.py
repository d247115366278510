"""A file is replaced as a whole, or stays as it was."""

import os

import pytest

from autograder.course.errors import CourseError
from autograder.course.files import write


def test_it_says_whether_anything_changed(tmp_path):
    path = tmp_path / "new" / "file.txt"
    assert write(path, "text") and not write(path, b"text") and write(path, "other")
    assert path.read_text() == "other"


def test_nothing_is_left_beside_it(tmp_path):
    write(tmp_path / "file.txt", "text")
    assert [path.name for path in tmp_path.iterdir()] == ["file.txt"]


def test_what_cannot_be_written_is_told_in_a_line_and_changes_nothing(
    tmp_path, monkeypatch
):
    path = tmp_path / "file.txt"
    write(path, "old")

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(CourseError, match=r"cannot be written: No space left"):
        write(path, "new")
    assert path.read_text() == "old" and len(list(tmp_path.iterdir())) == 1
