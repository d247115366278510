"""nbgrader's rule for plain asserts, without what is unjust or loose in it."""

import pytest
from nbformat.v4 import new_code_cell, new_output

from autograder.grading.checks import reference_metadata
from autograder.grading.scores import inside_score, most_points
from tests.tiny_course import graded

STDERR = new_output("stream", name="stderr", text="a warning")
ERROR = new_output("error", ename="AssertionError", evalue="", traceback=[])


def value(text: str):
    return new_output("execute_result", {"text/plain": text})


def cell(*outputs, solution: bool = False):
    made = graded(new_code_cell("assert f(2) == 4"), "u-e", 2.0, solution)
    made.outputs = list(outputs)
    return made


@pytest.mark.parametrize(
    ("outputs", "score"),
    [
        ([], 2.0),
        ([STDERR], 2.0),
        ([ERROR], 0.0),
        ([value("2"), ERROR], 0.0),
        ([value("0.5")], 0.5),
        ([STDERR, value("0.5")], 0.5),
        ([value("3")], 0.0),
        ([value("-1")], 0.0),
        ([value("nan")], 0.0),
        ([value("inf")], 0.0),
        ([value("'well done'")], 2.0),
        ([new_output("execute_result", {"text/html": "2"})], 0.0),
    ],
)
def test_a_cell_of_asserts_earns_what_it_can_be_worth(outputs, score):
    assert inside_score(cell(*outputs)) == score


def test_a_graded_answer_that_was_filled_in_waits_for_a_person():
    assert inside_score(cell(solution=True)) is None


def test_a_check_can_give_its_points_and_a_bonus(monkeypatch):
    monkeypatch.setattr(reference_metadata, "most", lambda exercise: 1.25)
    assert most_points("u/e", cell()) == 2.5
