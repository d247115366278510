"""A student's folder holds the last result as a whole, and nothing else."""

import os
import threading

import pytest
from nbformat.v4 import new_notebook

from autograder.course.errors import CourseError
from autograder.grading.metadata import KEY, GradingMetadata
from autograder.grading.run.graded_folder import GradedFolder

KEPT = {"timestamp.txt": b"2026-11-01 12:00:00 UTC"}


@pytest.fixture
def folder(tmp_path):
    student_folder = tmp_path / "autograded" / "ada" / "01_numbers"
    student_folder.mkdir(parents=True)
    return student_folder


def notebook(**note: object):
    return new_notebook(metadata={KEY: note} if note else {})


def test_what_was_noted_is_known_to_the_next_run(folder):
    GradedFolder(folder).replace("a", notebook(digest="d1"), {})
    assert GradedFolder(folder).read_metadata("a") == GradingMetadata(digest="d1")
    assert GradedFolder(folder).read_metadata("b") == GradingMetadata()
    (folder / "a.ipynb").write_text('{"cells": [')
    assert GradedFolder(folder).read_metadata("a") == GradingMetadata(), "cut off"


def test_what_others_left_behind_goes_and_other_notebooks_stay(folder):
    for name in ("b.ipynb", "a.ipynb.part", "timestamp.txt", "helper.py"):
        (folder / name).write_text("old")
    (folder / "sub").mkdir()
    (folder / "sub" / "x.txt").touch()
    GradedFolder(folder).replace("a", notebook(), KEPT)
    assert {p.name for p in folder.iterdir()} == {"a.ipynb", "b.ipynb", "timestamp.txt"}
    assert (folder / "timestamp.txt").read_bytes() == KEPT["timestamp.txt"]
    GradedFolder(folder).replace("a", notebook(), {})
    assert {p.name for p in folder.iterdir()} == {"a.ipynb", "b.ipynb"}


def test_a_folder_that_is_closed_to_us_is_told_before_anything_is_done(
    folder, monkeypatch
):
    monkeypatch.setattr(os, "access", lambda *_: False)
    steps = []
    with (
        pytest.raises(CourseError, match=r"ada/01_numbers is closed to"),
        GradedFolder(folder).locked(),
    ):
        steps.append("graded")
    assert not steps


def test_another_run_waits_for_the_lock(folder):
    order, wait_event = [], threading.Event()

    def second() -> None:
        with GradedFolder(folder).locked(wait_event.set):
            order.append("second")

    waiting = threading.Thread(target=second)
    with GradedFolder(folder).locked(lambda: order.append("nobody to wait for")):
        waiting.start()
        assert wait_event.wait(60)
        order.append("first")
    waiting.join(60)
    assert order == ["first", "second"]
