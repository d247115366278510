"""A cell that an extra scores gets its verdict, by the key of its student."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from nbformat.v4 import new_code_cell, new_notebook, new_output

from autograder.course.errors import CourseError
from autograder.grading import extra_cells
from autograder.grading.judge.verdict import Verdict
from autograder.grading.metadata import GradingMetadata

EXERCISE, CHECK = "riddle/answer", "riddle-answer"


def judge(notebook, key, points: float) -> Verdict:
    earned = points * (key.get("word", "?") in notebook.cells[0].source)
    return Verdict(EXERCISE, earned, points)


@pytest.fixture(autouse=True)
def riddles(monkeypatch) -> None:
    handler = SimpleNamespace(
        EXERCISE=EXERCISE,
        read_keys=lambda root, assignment: {"ada": {"word": "echo"}},
        judge=judge,
        show=lambda verdict: new_output("stream", text=f"{verdict.points:g}"),
    )
    monkeypatch.setattr(extra_cells, "_handlers", lambda: {CHECK: handler})


def notebook(grade_id: str = CHECK):
    cells = [new_code_cell("answer = 'echo'"), new_code_cell()]
    mark = {"grade": True, "grade_id": grade_id, "points": 3, "schema_version": 3}
    cells[1].metadata["nbgrader"] = mark
    return new_notebook(cells=cells)


def graded(keys: dict) -> tuple[Verdict, str]:
    names = {"student": "ada", "assignment": "riddle", "notebook": "riddle"}
    resources = {"autograder": {"keys": keys, "id": "of-ada"}, "nbgrader": names}
    book, _ = extra_cells.ExtraVerdicts().preprocess(notebook(), resources)
    verdict = GradingMetadata.of_run(book, resources).checks[CHECK]
    return verdict, book.cells[1].outputs[0].text


def test_the_verdict_is_the_extra_s_and_says_whose_it_is():
    verdict, output = graded({EXERCISE: {"word": "echo"}})
    assert (verdict.points, verdict.submission, output) == (3.0, "of-ada", "3")


def test_a_student_without_a_key_is_judged_by_an_empty_one():
    assert graded({})[0].points == 0.0


def test_keys_are_read_for_cells_that_are_there(tmp_path):
    keys = extra_cells.read_keys(tmp_path, "riddle", [notebook()])
    assert keys == {"ada": {EXERCISE: {"word": "echo"}}}
    assert extra_cells.read_keys(tmp_path, "unit", [notebook("unit-softmax")]) == {}


def test_a_cell_of_an_extra_that_is_gone_is_refused(tmp_path):
    book = notebook("song-title")
    book.cells[1].metadata[extra_cells.SCORED_BY] = "songs"
    with pytest.raises(CourseError) as refusal:
        extra_cells.read_keys(tmp_path, "song", [book])
    assert str(refusal.value) == (
        "song is scored by the extra `songs`, which is not installed"
    )
