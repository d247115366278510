"""A disk that is full and a file that is closed are told of before anything begins."""

import os
from types import SimpleNamespace

import pytest

from autograder.course.access import refuse_full, refuse_path, require_access
from autograder.course.errors import CourseError


@pytest.mark.parametrize(
    ("place", "value", "message"),
    [
        ("f_bavail", 1, "has 0 MB left; make room"),
        ("f_favail", 3, "has room for 3 more files"),
        ("f_flag", os.ST_RDONLY, "is read-only"),
    ],
)
def test_a_full_disk_is_told_before_anything_is_begun(
    tmp_path, monkeypatch, place, value, message
):
    refuse_full(tmp_path)
    names = [name for name in dir(os.statvfs_result) if name.startswith("f_")]
    disk = {name: getattr(os.statvfs(tmp_path), name) for name in names}
    disk |= {"f_blocks": 9, "f_files": 9, "f_bavail": 1 << 30, "f_favail": 1 << 30}
    disk |= {"f_flag": 0, place: value}
    monkeypatch.setattr(os, "statvfs", lambda folder: SimpleNamespace(**disk))
    with pytest.raises(CourseError, match=message):
        refuse_full(tmp_path)
    if place != "f_flag":  # a file system that tells nothing
        disk |= {"f_blocks": 0, "f_files": 0}
        refuse_full(tmp_path)


def test_a_long_path_is_refused_with_its_excess_in_bytes(tmp_path):
    longest = tmp_path / ("a" * (490 - len(bytes(tmp_path))))
    refuse_path(longest)
    with pytest.raises(CourseError, match="too long for a gradebook, by 3 bytes; move"):
        refuse_path(longest.with_name(f"{longest.name[:-1]}圖b"))


def test_where_nothing_is_yet_the_nearest_folder_tells(tmp_path):
    refuse_full(tmp_path / "not" / "there")
    require_access(tmp_path / "not" / "there", tmp_path)


@pytest.fixture
def by_somebody_else(tmp_path, monkeypatch):
    """A file of an account that has no name here, which only it may use."""
    path = tmp_path / "theirs"
    path.write_text("{}")
    status = SimpleNamespace(st_uid=987_654_321, st_mode=0o100600)
    monkeypatch.setattr(os, "access", lambda *_: False)
    monkeypatch.setattr(type(path), "stat", lambda *_, **__: status)
    return path


def test_whose_a_closed_file_is_and_what_to_do_is_told_in_a_line(by_somebody_else):
    with pytest.raises(CourseError, match="belongs to account 987654321") as error:
        require_access(by_somebody_else)
    assert "docs/admin.md" in str(error.value) and "\n" not in str(error.value)
