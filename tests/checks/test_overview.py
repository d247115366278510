"""All units in one picture."""

import pytest

from autograder.checks.check import Check
from autograder.checks.contents import units
from autograder.checks.overview import CourseOverview, UnitScore
from autograder.checks.scorecard import ExerciseScore
from autograder.checks.words import LEFT_OUT
from transformer_course.solutions import attention


@pytest.mark.whole_course
def test_each_unit_has_a_row_with_a_field_for_each_exercise(capsys):
    check = Check()
    check("attention/by_hand", attention.attend)
    check("attention/softmax", lambda scores, dim=-1: scores)
    overview = check.overview()
    lines = repr(overview).splitlines()
    assert len(lines) == len(units()) == 10
    assert " ".join(lines[1].split()) == "2 · Attention ✓✗···· 10 of 96 points"
    html = overview._repr_html_()
    assert html.count("title=") == sum(len(unit.rows) for unit in overview.units)
    assert 'title="2.1 One attention by hand: 10 of 10 points"' in html


def test_partial_credit_has_the_same_sign_as_in_a_unit_s_summary():
    row = ExerciseScore("BLEU", 2.0, 4.0, passed=False, is_partial=True)
    overview = CourseOverview((UnitScore("Text", (row,)),))
    assert f"  {row.sign}  " in repr(overview) and row.sign not in "✓✗·"
    assert f">{row.sign}<" in overview._repr_html_()


def test_grading_leaves_it_out(monkeypatch, capsys):
    monkeypatch.setenv(LEFT_OUT, "1")
    assert Check().overview() is None
    assert "left out" in capsys.readouterr().out
