"""A verdict is explained from the stored submission: what was asked, what came back."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from autograder import cli
from autograder.grading import converter
from tests.grading import judged_course as judged

CONFIG = """
c = get_config()
from autograder.grading import converter
converter.install()
c.CourseDirectory.course_id = "tiny"
c.Autograde.autograde_preprocessors = [
    "autograder.grading.execute.JudgedExecute", "autograder.grading.scores.SaveVerdicts"
]
c.JudgedExecute.shutdown_kernel = "immediate"
"""
HOSTILE = judged.UNDIVIDED + "\n# <script>alert(1)</script> \x1b[31m"


@pytest.fixture(scope="module")
def root(tmp_path_factory) -> Path:
    root = tmp_path_factory.mktemp("judged") / "course"
    judged.make_course(root)
    (root / "nbgrader_config.py").write_text(CONFIG)
    judged.hand_in(root, "ada", softmax=HOSTILE)
    assert converter.install()
    result = judged.autograde(root)
    assert result["success"], result
    return root


def replay(root: Path, *arguments: str) -> int:
    return cli.main(["replay", "02", *arguments, "--course", str(root)])


def test_a_verdict_is_explained_and_nothing_is_written(root, capsys, tmp_path):
    files = {path: path.stat().st_mtime_ns for path in root.rglob("*")}
    page = tmp_path / "appeal.html"
    assert replay(root, "ada", "softmax", "--html", str(page)) == 0
    output = capsys.readouterr().out
    assert "0 points of 14" in output
    assert "Decided again: 0 of 14 points, as when it was graded." in output
    assert ", build " in output and ", Python 3." in output
    assert "input x: float32, shape (" in output and "expected: float32" in output
    assert "drawn for grading" in output and str(page) in output
    html = page.read_text()
    assert "&lt;script&gt;" in html and "<script" not in html and "\x1b" not in html
    assert "powers" in html and "The student&#39;s answer" in html
    new = {p: p.stat().st_mtime_ns for p in root.rglob("*") if not p.is_dir()}
    assert new == {path: files[path] for path in new}


def test_a_right_answer_is_a_line_for_each_case(root, capsys):
    assert replay(root, "ada", "sees") == 0
    output = capsys.readouterr().out
    assert "8 of 8 points, as when" in output and "expected:" not in output


def test_another_hand_in_is_said(root, capsys, tmp_path):
    copy = tmp_path / "course"
    shutil.copytree(root, copy)
    shutil.rmtree(copy / "submitted" / "ada")
    judged.hand_in(copy, "ada")
    assert replay(copy, "ada", "softmax") == 1
    assert (
        "Decided again: 14 of 14 points, but 0 points were recorded: the files in "
        "submitted/ are not those that were graded." in capsys.readouterr().out
    )
    shutil.rmtree(copy / "submitted" / "ada")
    assert replay(copy, "ada", "softmax") == 1
    assert "is not there any more" in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments, reason",
    [
        (["nobody", "softmax"], 'nobody is called "nobody" in the gradebook'),
        (["ada", "mask"], 'no exercise "mask"; there are softmax, sees'),
    ],
)
def test_what_is_not_there_is_said_in_a_line(root, capsys, arguments, reason):
    assert replay(root, *arguments) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert reason in line
