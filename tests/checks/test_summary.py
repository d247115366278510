"""``check.summary()``: where a student stands, in words and as a table."""

from __future__ import annotations

import re

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook
from nbgrader.validator import Validator

from autograder.checks import boxes, panel
from autograder.checks.check import Check
from autograder.checks.references import load
from autograder.checks.scorecard import ExerciseScore
from autograder.checks.summary import Summary
from autograder.checks.words import LEFT_OUT
from tests.checks.contrast import contrast
from transformer_course.solutions import attention


@pytest.fixture
def check():
    return Check()


def stub(*_):
    raise NotImplementedError


def test_before_any_check_it_says_what_to_run(check):
    assert "run the cells above" in repr(check.summary())
    assert "run the cells above" in check.summary()._repr_html_()


def test_it_lists_all_exercises_in_their_order_with_points_and_the_next_step(check):
    check("attention/softmax", attention.stable_softmax)
    check("attention/by_hand", stub)
    summary = check.summary()
    exercises = list(load("attention").values())
    assert [row.title for row in summary.rows] == [e.title for e in exercises]
    assert summary.max_points == sum(e.points for e in exercises)
    by_title = {row.title: row for row in summary.rows}
    solved = by_title[load("attention")["attention/softmax"].title]
    assert solved.passed and summary.points == solved.points > 0
    by_hand = by_title[load("attention")["attention/by_hand"].title]
    assert by_hand.remark == "not solved yet"
    assert summary.next_step == "Next: Exercise 2.3.", "the first one of the short path"
    assert "not checked yet" in repr(summary)


def test_a_named_mistake_stands_beside_its_exercise(check):
    check("attention/softmax", lambda x: x * 0)
    name = load("attention")["attention/softmax"].title
    (row,) = (row for row in check.summary().rows if row.title == name)
    assert row.passed is False and re.fullmatch(r"\d+ of \d+", row.cases)


def test_where_points_were_lost_stands_beside_the_exercise(check):
    def in_place(scores, dim=-1):
        scores.sub_(scores.amax(dim, keepdim=True)).exp_()
        return scores / scores.sum(dim, keepdim=True)

    verdict = check("attention/softmax", in_place)
    summary = check.summary()
    (row,) = (row for row in summary.rows if row.aspects)
    assert row.title == verdict.title and row.aspects in panel.as_text(verdict)
    assert row.aspects in repr(summary) and row.aspects in summary._repr_html_()


def test_when_all_is_right_it_says_hand_in():
    summary = Summary((ExerciseScore("Doubling", 10, 10, True, "2 of 2", ""),))
    assert "Hand it in" in repr(summary)
    assert "10 of 10 points by checks" in summary._repr_html_()


def test_titles_cannot_bring_html_along():
    page = Summary((ExerciseScore("<script>", 0, 1),))._repr_html_()
    assert "<script>" not in page


def test_grading_leaves_it_out(check, monkeypatch, capsys):
    monkeypatch.setenv(LEFT_OUT, "1")
    assert check.summary() is None
    assert "feedback" in capsys.readouterr().out


def test_validate_is_told_what_is_wrong_and_nothing_of_what_is_right(
    check, monkeypatch, capsys
):
    monkeypatch.setenv("NBGRADER_VALIDATING", "1")
    check("attention/by_hand", stub)
    assert capsys.readouterr().err.startswith("Not solved yet")
    monkeypatch.delenv("NBGRADER_VALIDATING")
    check("attention/by_hand", stub)
    assert not capsys.readouterr().err


@pytest.mark.slow  # of what a check tells Validate, the test above is the fast one
def test_nbgrader_validates_with_our_words(tmp_path):
    mark = {
        "grade": True, "grade_id": "by_hand", "schema_version": 3, "points": 4,
        "locked": True, "solution": False, "task": False,
    }  # fmt: skip
    cells = [
        new_code_cell(
            "from autograder import check\n"
            "def attend(*lists):\n    raise NotImplementedError  # your code here"
        ),
        new_code_cell(
            'check("attention/by_hand", attend)', metadata={"nbgrader": mark}
        ),
    ]
    nbformat.write(new_notebook(cells=cells), tmp_path / "a.ipynb")
    (failed,) = Validator().validate(str(tmp_path / "a.ipynb"))["failed"]
    assert "Not solved yet" in failed["error"]
    assert "Partial credit" not in failed["error"]


@pytest.mark.parametrize("passed", [True, False])
def test_ticks_and_crosses_can_be_read_in_any_theme(passed):
    mark = boxes.mark(passed)
    ground = re.search(r"background-color:#(\w{6})", mark)[1]
    assert "color:#fff" in mark
    assert contrast(bytes.fromhex(ground), (255, 255, 255)) >= 4.5
