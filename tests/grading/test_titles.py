"""Graded cells are called by their titles, and exercises by their numbers."""

from autograder.checks.references import load
from autograder.grading.titles import heading, number, title


def test_exercises_of_the_course_are_called_by_their_titles():
    expected = load("attention")["attention/softmax"].title
    assert title("02_attention", "attention-softmax") == expected
    assert title("02_attention", "attention-empty_row") == "Empty row (in words)"
    assert title("01_numbers", "numbers-double") == "numbers-double"


def test_exercises_have_the_numbers_of_their_notebook():
    assert number("02_attention", "attention-softmax") == "2.2"
    assert number("02_attention", "attention-empty_row") == ""
    assert number("01_numbers", "numbers-double") == ""


def test_a_unit_is_called_by_its_number_and_name():
    assert heading("03_multi_head_attention") == "3 · Multi-head attention"
    assert heading("11_more_of_it") == "11 · More of it", "none of the course's units"
    assert heading("quiz-02") == "quiz-02"
