"""Where a command cannot write, it says so in one line."""

import pytest

from autograder import cli
from autograder.build import notebook
from autograder.errors import CourseError


def test_a_report_to_an_impossible_place_is_one_line(graded, capsys):
    (graded / "file").write_text("")
    where = ["--course", str(graded), "--output"]
    assert cli.main(["report", "01", *where, str(graded / "file" / "r.html")]) == 1
    (said,) = capsys.readouterr().err.splitlines()
    assert said.startswith("autograder: ") and str(graded / "file") in said


def test_a_full_disk_leaves_what_was_there_and_nothing_else(tmp_path, monkeypatch):
    path = tmp_path / "page.html"
    path.write_text("old")

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pathlib.Path.replace", full)
    with pytest.raises(CourseError, match=r"page\.html cannot be written: No space"):
        notebook.write(path, "new")
    assert path.read_text() == "old" and list(tmp_path.iterdir()) == [path]
