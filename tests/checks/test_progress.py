"""A student's progress lasts in a file, which only a student's notebook touches."""

import json
import sys
from types import ModuleType

import pytest

from autograder.checks import progress
from autograder.checks.progress import ProgressFileError, StoredVerdict
from autograder.checks.words import CHANNEL, LEFT_OUT, PROGRESS
from tests.checks.notebook import Notebook

FOUND = StoredVerdict(0.5, False, "3 of 6", "half", "0123456789abcdef")


def test_what_is_kept_is_read_again(tmp_path):
    assert progress.read(tmp_path) == {}
    progress.keep(tmp_path, "u/half", FOUND)
    progress.keep(tmp_path, "u/whole", StoredVerdict(1.0, True, "6 of 6"))
    assert progress.read(tmp_path)["u/half"] == FOUND
    assert list(progress.read(tmp_path)) == ["u/half", "u/whole"]
    assert [path.name for path in tmp_path.iterdir()] == [PROGRESS]
    progress.forget(tmp_path)
    assert progress.read(tmp_path) == {}


def test_each_unit_s_own_folder_is_read_and_this_one_counts_most(tmp_path):
    first, second = tmp_path / "01_a", tmp_path / "02_b"
    for folder in (first, second, tmp_path / "other"):
        folder.mkdir()
    progress.keep(first, "a/x", FOUND)
    progress.keep(second, "a/x", StoredVerdict(1.0, True, "6 of 6"))
    progress.keep(second, "b/y", FOUND)
    (tmp_path / "other" / PROGRESS).write_text("{")
    assert progress.read_all(first) == {"a/x": FOUND, "b/y": FOUND}


ENTRY = {"share": 1.0, "passed": True, "cases": "", "target": "", "source": ""}
FOREIGN = [
    "", "{", "[1]", "7", '{"format": 2, "exercises": {}}', '{"format": 1}',
    '{"format": 1, "exercises": [1]}', '{"format": 1, "exercises": {"u/e": 1}}',
    json.dumps({"format": 1, "exercises": {"u/e": ENTRY | {"share": "1"}}}),
    json.dumps({"format": 1, "exercises": {"u/e": ENTRY | {"share": float("nan")}}}),
    json.dumps({"format": 1, "exercises": {"u/e": {"share": 1.0}}}),
    "[" * 100_000, " " * 1_100_000,
]  # fmt: skip


@pytest.mark.parametrize("text", FOREIGN, ids=lambda text: text[:40])
def test_a_broken_or_foreign_file_is_left_alone_until_it_is_replaced(tmp_path, text):
    (tmp_path / PROGRESS).write_text(text)
    for use in (progress.read, lambda path: progress.keep(path, "u/e", FOUND)):
        with pytest.raises(ProgressFileError, match=r"is ignored; `check.reset\(\)`"):
            use(tmp_path)
    assert (tmp_path / PROGRESS).read_text() == text
    progress.forget(tmp_path)
    assert progress.read(tmp_path) == {}


def test_a_folder_that_cannot_be_written_is_said_to_be(tmp_path):
    with pytest.raises(ProgressFileError, match="cannot be written"):
        progress.keep(tmp_path / "nowhere", "u/e", FOUND)


def test_it_lies_beside_a_notebook_that_somebody_runs(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    assert progress.find_folder() is None
    Notebook(monkeypatch)
    assert progress.find_folder() == tmp_path and progress.lasts(tmp_path)
    Notebook(monkeypatch, attended=False)
    assert progress.find_folder() is None, "a program, like the build"


@pytest.mark.parametrize("name", [LEFT_OUT, "NBGRADER_VALIDATING", CHANNEL])
def test_grading_and_validating_neither_read_nor_write_it(monkeypatch, name):
    Notebook(monkeypatch)
    monkeypatch.setenv(name, "1")
    assert progress.find_folder() is None


def test_in_colab_it_lies_in_drive_or_says_that_it_does_not_last(monkeypatch, tmp_path):
    drive = tmp_path / "drive" / "MyDrive"
    monkeypatch.setattr(progress, "_DRIVE", drive)
    monkeypatch.setitem(sys.modules, "google.colab", ModuleType("google.colab"))
    monkeypatch.chdir(tmp_path)
    Notebook(monkeypatch)
    assert progress.find_folder() == tmp_path and not progress.lasts(tmp_path)
    (drive / "Colab Notebooks").mkdir(parents=True)
    folder = progress.find_folder()
    assert folder == drive / "Colab Notebooks" and progress.lasts(folder)
