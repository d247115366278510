"""A file is replaced as a whole, or stays as it was."""

import multiprocessing
import os
from datetime import timedelta
from functools import partial
from pathlib import Path

import pytest

from autograder.classroom import collection_log
from autograder.classroom.collection_log import Note
from autograder.course.errors import CourseError
from autograder.course.files import read_json_state, replace_folder, write
from autograder.grading.gradebook import extensions


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


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (PermissionError(13, "Permission denied"), "belongs to"),
        (OSError(5, "Input/output error"), "cannot be read: Input/output error"),
    ],
)
def test_notes_that_cannot_be_read_are_not_taken_for_none(
    tmp_path, monkeypatch, error, message
):
    path = tmp_path / "notes.json"
    assert read_json_state(path) == {}
    path.write_text("{")
    with pytest.raises(CourseError, match="is damaged"):
        read_json_state(path)

    def fail(*_, **__):
        raise error

    monkeypatch.setattr(type(path), "read_text", fail)
    monkeypatch.setattr(os, "geteuid", lambda: 987_654_321)
    with pytest.raises(CourseError, match=message):
        read_json_state(path)


STUDENTS = [f"s{number}" for number in range(40)]


def at_once(*commands) -> None:
    """Run commands in processes of their own, at the same time."""
    fork = multiprocessing.get_context("fork")
    ready = fork.Barrier(len(commands))

    def run(command) -> None:
        ready.wait()
        command()

    running = [fork.Process(target=run, args=(command,)) for command in commands]
    for process in running:
        process.start()
    for process in running:
        process.join()
    assert [process.exitcode for process in running] == [0] * len(running)


def grant(root: Path, students: list[str]) -> None:
    for student in students:
        extensions.grant(root, "01", student, timedelta(hours=1))


def note(root: Path, students: list[str]) -> None:
    for student in students:
        collection_log.write(root, "01", student, Note(origin=student))


@pytest.mark.parametrize("command", [grant, note])
def test_what_two_commands_note_at_once_is_all_there(tmp_path, command):
    halves = STUDENTS[:20], STUDENTS[20:]
    at_once(*(partial(command, tmp_path, half) for half in halves))
    notes = extensions.granted(tmp_path, "01") or collection_log.read(tmp_path, "01")
    assert sorted(notes) == sorted(STUDENTS)


def write_often(path: Path, text: str) -> None:
    for number in range(100):
        write(path, f"{text}{number}" * 1000)


def test_two_who_write_a_file_at_once_leave_it_whole(tmp_path):
    path = tmp_path / "file.txt"
    at_once(partial(write_often, path, "a"), partial(write_often, path, "b"))
    assert path.read_text() in {f"{letter}99" * 1000 for letter in "ab"}
    assert [entry.name for entry in tmp_path.iterdir()] == ["file.txt"]


def test_a_folder_takes_the_place_of_another_or_of_what_was_left_aside(tmp_path):
    place, old = tmp_path / "place", tmp_path / ".place.old"
    for text in ("first", "second"):
        part = tmp_path / "part"
        write(part / "file", text)
        replace_folder(place, part)
        assert (place / "file").read_text() == text and not old.exists()
    place.rename(old)  # somebody was stopped between the two renames
    with pytest.raises(OSError):
        replace_folder(place, tmp_path / ".place.part")  # which is not there
    assert (place / "file").read_text() == "second"


def test_a_folder_comes_back_if_the_new_one_cannot_take_its_place(tmp_path):
    write(tmp_path / "place" / "file", "first")
    with pytest.raises(OSError):
        replace_folder(tmp_path / "place", tmp_path / ".place.part")
    assert (tmp_path / "place" / "file").read_text() == "first"


def test_a_private_file_is_its_owner_s_alone_also_where_an_open_one_was(tmp_path):
    path = tmp_path / "key.json"
    write(path, "1")
    assert write(path, "1", private=True) and path.stat().st_mode & 0o777 == 0o600
    assert not write(path, "1", private=True)
    assert write(path, "2", private=True) and path.stat().st_mode & 0o777 == 0o600
