"""A broken exercise is refused before anybody is graded by it."""

from __future__ import annotations

import copy
from types import SimpleNamespace

import pytest
from nbformat.v4 import new_code_cell, new_notebook
from nbgrader.preprocessors import SaveAutoGrades

from autograder.grading.faults import GradingInfrastructureError
from autograder.grading.judge.verdict import CaseVerdict, Verdict
from autograder.grading.run import rehearsal
from autograder.grading.run.assignment import SOLUTION
from autograder.grading.warmable import Stage
from tests import tiny_course as tiny
from tests.tiny_course import (
    UNIT,
    RunHere,
    autograde,
    good,
    graded_students,
    hand_in,
    points,
)

NAME = "attention/softmax"


class Judged(RunHere, Stage):
    """Stands for the stage that judges; what it depends on can be set."""

    version = "1"

    @classmethod
    def depends_on(cls, assignment):
        return cls.version


def grade(course, **settings) -> dict:
    stages = [Judged, SaveAutoGrades]
    return autograde(course, autograde_preprocessors=stages, **settings)


@pytest.fixture
def graded(course):
    hand_in(course, "ada", good(course))
    assert grade(course)["success"]
    return course


def damage(course) -> None:
    """Have the course's own solution fail its test, as a mistaken author would."""
    path = course / "source" / UNIT / f"{UNIT}.ipynb"
    text = path.read_text()
    assert "assert double(-3) == -6" in text
    path.write_text(text.replace("assert double(-3) == -6", "assert double(-3) == 6"))


def test_a_broken_exercise_is_refused_in_one_line_and_nothing_changes(graded):
    hand_in(graded, "bob", good(graded))
    before = tiny.gradebook(graded)
    damage(graded)
    result = grade(graded)
    lines = [line for line in result["log"].splitlines() if "no submission was" in line]
    assert not result["success"] and len(lines) == 1
    assert lines[0].endswith(
        "01_numbers: no submission was graded, because the course's own solution does "
        "not get all points for numbers-double: 0 of 2 points; run: make build UNIT=01"
    )
    assert graded_students() == [SOLUTION]
    assert tiny.gradebook(graded) == before
    assert not (graded / "changes").exists()


def test_the_solution_is_graded_once_and_again_after_a_change(graded, monkeypatch):
    assert graded_students() == [SOLUTION, "ada"]
    grade(graded)
    assert graded_students() == []
    hand_in(graded, "bob", good(graded))
    grade(graded)
    assert graded_students() == ["bob"]
    monkeypatch.setattr(Judged, "version", "2")
    grade(graded)
    assert graded_students() == [SOLUTION, "ada", "bob"]


def test_a_fault_of_the_machine_says_nothing_against_an_exercise(course, monkeypatch):
    run = RunHere.preprocess

    def lost(self, nb, resources):
        if resources["nbgrader"]["student"] == SOLUTION:
            raise GradingInfrastructureError("the judge was lost")
        return run(self, nb, resources)

    hand_in(course, "ada", good(course))
    monkeypatch.setattr(RunHere, "preprocess", lost)
    result = grade(course)
    assert "its own solution was not graded (the judge was lost)" in result["log"]
    assert result["success"] and points(course) == {"ada": [2.0, 4.0, None]}
    note = rehearsal.passed_digests_path(course, UNIT)
    assert not note.is_file() or note.read_text() == "{}"


def verdict(points: float, **fields) -> Verdict:
    return Verdict(NAME, points, 10.0, **fields)


def test_a_check_that_passes_hides_no_other_of_its_exercise():
    check = new_code_cell(f'check("{NAME}", softmax)')
    cells = [tiny.graded(copy.deepcopy(check), name, 10.0) for name in ("a", "b")]
    metadata = SimpleNamespace(checks={"a": verdict(4.0), "b": verdict(10.0)})
    graded = SimpleNamespace(notebook=new_notebook(cells=cells), metadata=metadata)
    assert rehearsal._failures(graded) == {NAME: "4 of 10 points"}


FAILED = (CaseVerdict("a", "large", "values", True),)
MODEL = "sequence_reversal/trained_model"  # may be a little worse elsewhere


@pytest.mark.parametrize(
    ("rehearsed", "reason"),
    [
        (verdict(10.0), ""),
        (verdict(9.0, says="It is slow."), "9 of 10 points (It is slow.)"),
        (verdict(0.0, note="No answer."), "0 of 10 points (No answer.)"),
        (verdict(0.0, decided="person", note="?", fault="a.py:1: E"), "a.py:1: E"),
        (verdict(5.0, cases=FAILED), "5 of 10 points (large)"),
        (Verdict(MODEL, 7.5, 8.0), ""),
        (Verdict(MODEL, 0.0, 8.0, note="no model"), "0 of 8 points (no model)"),
    ],
)
def test_less_than_all_points_has_a_reason(rehearsed, reason):
    assert rehearsal._reason(rehearsed) == reason
