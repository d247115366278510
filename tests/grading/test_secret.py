"""The course's secret is made once, by whoever is first, for the course's eyes only."""

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from autograder.course.errors import CourseError
from autograder.grading.secret import course_secret


def test_it_is_made_once_for_each_course_and_nobody_else_can_read_it(tmp_path):
    folders = [tmp_path / name for name in ("one", "other")]
    for folder in folders:
        folder.mkdir()
    first, second = map(course_secret, folders)
    assert len(first) == 64 and course_secret(folders[0]) == first != second
    path = folders[0] / ".autograder" / "secret"
    assert path.stat().st_mode & 0o077 == 0
    assert list(path.parent.iterdir()) == [path], "nothing is left of its making"


def test_one_that_is_closed_to_us_is_no_reason_for_another(tmp_path, monkeypatch):
    """Another one would ask every submission other questions."""

    def refuse_read(path):
        raise PermissionError(13, "Permission denied")

    first = course_secret(tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(Path, "read_bytes", refuse_read)
        with pytest.raises(CourseError, match="is closed to"):
            course_secret(tmp_path)
    assert course_secret(tmp_path) == first


def test_half_a_secret_is_none(tmp_path, monkeypatch):
    def full(descriptor):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(CourseError, match="No space left"):
            course_secret(tmp_path)
    assert list((tmp_path / ".autograder").iterdir()) == []
    assert len(course_secret(tmp_path)) == 64


@pytest.mark.parametrize("content", [b"", b"\n", b"0" * 31, b"\0" * 64, b" " * 99])
def test_an_empty_or_short_one_is_refused_in_one_line(tmp_path, content):
    """Anybody could compute what is drawn from it."""
    path = tmp_path / ".autograder" / "secret"
    path.parent.mkdir()
    path.write_bytes(content)
    with pytest.raises(CourseError, match="is damaged") as refusal:
        course_secret(tmp_path)
    assert "\n" not in str(refusal.value) and path.read_bytes() == content


def test_runs_that_begin_at_once_agree(tmp_path):
    with ThreadPoolExecutor(8) as pool:
        secrets = set(pool.map(lambda _: course_secret(tmp_path), range(32)))
    assert len(secrets) == 1
