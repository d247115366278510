"""A sandbox's folder is measured and removed whatever its student has done to it."""

import errno
import io
import os
from pathlib import Path
from types import SimpleNamespace

import pytest

from autograder.sandbox import slot
from autograder.sandbox.slot import (
    full_disk_message,
    lacks_room,
    remove_tree,
    tree_size,
)
from tests.sandbox.conftest import linux

pytestmark = linux

MOST = 4096


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    slot_folder = tmp_path / "slot"
    (slot_folder / "deep").mkdir(parents=True)
    (slot_folder / "deep" / "a.bin").write_bytes(b"x" * 10_000)
    (slot_folder / "link").symlink_to("/usr")
    return slot_folder


def test_its_size_is_what_it_takes_of_the_disk_and_links_lead_nowhere(folder):
    size, count = tree_size(folder, MOST)
    assert count == 3 and 10_000 <= size < 100_000


def test_a_file_of_holes_takes_no_room(folder):
    before, _ = tree_size(folder, MOST)
    with open(folder / "holes", "wb") as file:
        file.truncate(1 << 30)
    assert tree_size(folder, MOST)[0] - before < 1 << 20


@pytest.mark.skipif(os.getuid() == 0, reason="nothing is closed to root")
def test_a_closed_folder_hides_no_size(folder):
    (folder / "deep").chmod(0)
    with pytest.raises(PermissionError):
        tree_size(folder, MOST)
    (folder / "deep").chmod(0o700)


@pytest.mark.parametrize(
    ("place", "value"), [("f_bavail", 15), ("f_favail", 3), ("f_bavail", 0)]
)
def test_a_disk_that_has_less_than_is_needed_has_no_room(
    folder, monkeypatch, place, value
):
    disk = {"f_blocks": 99, "f_bavail": 16, "f_frsize": 1024, "f_files": 99}
    disk |= {"f_favail": 200}
    monkeypatch.setattr(os, "statvfs", lambda _: SimpleNamespace(**disk))
    assert not lacks_room(folder, 16 << 10)
    disk[place] = value
    assert lacks_room(folder, 16 << 10)
    disk |= {"f_blocks": 0, "f_files": 0}  # a file system that tells nothing
    assert not lacks_room(folder, 16 << 10)


def test_a_quota_is_felt_where_nothing_tells_of_it(folder, monkeypatch):
    class Full(io.BytesIO):
        def write(self, data):
            raise OSError(errno.EDQUOT, "Disk quota exceeded")

    assert not lacks_room(folder, 0)
    monkeypatch.setattr(slot.tempfile, "TemporaryFile", lambda **_: Full())
    assert lacks_room(folder, 0) and sorted(os.listdir(folder)) == ["deep", "link"]


def test_what_to_do_about_a_full_disk_names_the_folder_that_sandboxes_lie_in():
    message = full_disk_message(Path("/scratch/ag-0-x/0123"))
    assert "no room in /scratch;" in message and "TMPDIR" in message


def test_it_is_removed_whatever_modes_it_was_given_and_what_it_links_to_is_not(
    folder, tmp_path
):
    (tmp_path / "kept").mkdir(mode=0o755)
    (folder / "deep" / "out").symlink_to(tmp_path / "kept")
    (folder / "deep").chmod(0)
    folder.chmod(0o500)
    remove_tree(folder)
    assert not folder.exists()
    assert (tmp_path / "kept").stat().st_mode & 0o777 == 0o755


@pytest.fixture
def abyss(folder, monkeypatch):
    """A folder so deep that neither a path nor Python's stack reaches its ground."""
    monkeypatch.chdir(folder)
    for _ in range(3000):
        os.mkdir("d")
        os.chdir("d")
    Path("a.bin").write_bytes(b"x" * 10_000)
    yield folder
    monkeypatch.undo()
    remove_tree(folder)  # pytest could not


def test_a_folder_that_lies_too_deep_hides_no_size_and_is_removed(abyss):
    with pytest.raises(OSError, match="name too long"):
        tree_size(abyss, MOST)
    assert tree_size(abyss, 100)[1] == 101
    remove_tree(abyss)
    assert not abyss.exists()


def test_a_link_is_not_a_folder_to_be_removed(folder, tmp_path):
    link = tmp_path / "other"
    link.symlink_to(folder)
    remove_tree(link)
    assert (folder / "deep" / "a.bin").exists()
