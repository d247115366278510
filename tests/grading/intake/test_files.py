"""What is read of a folder that was handed in, and what is left out."""

import os
import socket

import pytest

from autograder.grading import intake
from autograder.grading.intake import RefusedError, SizeLimits
from autograder.grading.intake.common import UnreadableError


def test_links_fifos_and_sockets_are_left_out_and_told(tmp_path):
    folder = tmp_path / "work"
    folder.mkdir()
    (tmp_path / "secret").write_text("secret")
    (folder / "a.txt").write_text("fine")
    (folder / "link").symlink_to(tmp_path / "secret")
    (folder / "loop").symlink_to(folder)
    os.mkfifo(folder / "fifo")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(folder / "s"))
        reading = intake.take(folder)
    assert list(reading.files) == ["a.txt"]
    messages = " ".join(repair.says for repair in reading.repairs)
    assert "link, loop (is a link)" in messages
    assert "fifo, s (is not a regular file)" in messages
    with pytest.raises(RefusedError, match="not a folder"):
        intake.take(folder / "loop")


def test_sizes_and_counts_are_capped_and_notebooks_come_first(tmp_path):
    (tmp_path / "aaa.bin").write_bytes(b"x" * 90)
    (tmp_path / "z.ipynb").write_bytes(b"x" * 50)
    os.truncate(os.open(tmp_path / "huge", os.O_CREAT | os.O_WRONLY), 1 << 40)
    reading = intake.take(tmp_path, SizeLimits(file=100, total=120))
    assert list(reading.files) == ["z.ipynb"]
    assert [repair.says for repair in reading.repairs] == [
        "Left out: aaa.bin, huge (is beyond the 0 MB of all files together)."
    ]
    assert not reading.why_no_notebook, "there is a notebook"


def test_a_heap_of_files_crowds_no_notebook_out(tmp_path):
    for folder in (tmp_path, tmp_path / "venv"):
        folder.mkdir(exist_ok=True)
        for number in range(700):
            (folder / f"{number}.png").touch()
    (tmp_path / "zz.ipynb").write_text("{}")
    (tmp_path / "own work").mkdir()
    (tmp_path / "own work" / "zz.ipynb").write_text("{}")
    reading = intake.take(tmp_path)
    assert len(reading.files) == 500
    assert list(reading.files)[:2] == ["own work/zz.ipynb", "zz.ipynb"]
    assert "and 899 more (are too many files)" in reading.repairs[0].says


def test_folders_too_deep_are_left_out(tmp_path):
    deep = tmp_path
    for _ in range(12):
        deep = deep / "d"
    deep.mkdir(parents=True)
    (deep / "file").touch()
    reading = intake.take(tmp_path)
    assert reading.files == {}
    assert "lies too deep" in reading.repairs[0].says


def test_ignored_names_and_a_student_s_progress_are_skipped_silently(tmp_path):
    (tmp_path / ".ipynb_checkpoints").mkdir()
    (tmp_path / ".ipynb_checkpoints" / "a.ipynb").touch()
    (tmp_path / "course_progress.json").write_text("{}")
    assert intake.take(tmp_path, ignore=[".ipynb_checkpoints"]) == intake.Taken({})


@pytest.mark.parametrize(
    "name",
    ["\u200f02.ipynb", "02\u202f.ipynb", "0\n2.ipynb", os.fsdecode(b"\xff.ipynb")],
)
def test_a_notebook_is_taken_whatever_is_in_its_name(tmp_path, name):
    """A mark before what is written from the right, macOS's narrow blank, Latin-1."""
    (tmp_path / name).write_text("{}")
    ((path, file),) = intake.take(tmp_path).files.items()
    assert path.isprintable() and path.endswith(".ipynb") and file.data == b"{}"


def test_of_two_names_that_look_the_same_the_plain_one_counts(tmp_path):
    (tmp_path / "a_.txt").write_text("plain")
    (tmp_path / "a\u200b.txt").write_text("odd")
    reading = intake.take(tmp_path)
    assert {path: file.data for path, file in reading.files.items()} == {
        "a_.txt": b"plain"
    }
    assert "not plain text" in reading.repairs[0].says


@pytest.mark.parametrize("odd", ["a\u200b", "b.txt\u200b/c.txt"])
def test_a_name_that_only_looks_plain_is_no_place_twice(tmp_path, odd):
    """Nothing can be laid out as a file and as a folder, too."""
    for name in ("a_/b.txt", "b.txt_", odd):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(name)
    reading = intake.take(tmp_path)
    assert sorted(reading.files) == ["a_/b.txt", "b.txt_"]
    assert odd not in reading.files and "not plain text" in reading.repairs[0].says


@pytest.mark.parametrize("call", ["open", "scandir"])
def test_what_is_closed_to_the_grader_is_no_fault_of_the_student(
    tmp_path, monkeypatch, call
):
    (tmp_path / "a.ipynb").write_text("{}")

    def refuse_access(*_, **__):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, call, refuse_access)
    with pytest.raises(UnreadableError, match="Permission denied; see to its owner"):
        intake.take(tmp_path)
