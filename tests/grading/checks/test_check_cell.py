"""A grade cell is a check if it is nothing but checks of one answer."""

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell

from autograder.grading.checks.check_cell import CheckCell, check_cell
from tests.tiny_course import graded

CHECK = 'check("u/e", answer)'


@pytest.mark.parametrize(
    "code", [CHECK, f"{CHECK}\ncheck.hidden('u/e', (answer))  # the same answer"]
)
def test_a_check_and_its_hidden_part_are_one(code):
    cell = graded(new_code_cell(code), "u-e", 2.0)
    assert check_cell(cell) == CheckCell("u/e", "answer")


def test_what_is_checked_may_be_any_expression():
    cell = graded(new_code_cell('check("u/e", lambda x: x + 1)'), "u-e", 2.0)
    assert check_cell(cell) == CheckCell("u/e", "lambda x: x + 1")


@pytest.mark.parametrize(
    "code",
    [
        "",
        "assert answer == 2",
        f"{CHECK}\nassert answer",
        f'{CHECK}\ncheck("u/e", another)',
        f'{CHECK}\ncheck("u/another", answer)',
        'check("u/e", answer, mode=1)',
        "check(name, answer)",
        'other.check("u/e", answer)',
        'x = check("u/e", answer)',
        "check(",
    ],
)
def test_whatever_is_more_than_that_is_none(code):
    assert check_cell(graded(new_code_cell(code), "u-e", 2.0)) is None


def test_text_an_ungraded_cell_and_a_students_answer_are_none():
    assert check_cell(graded(new_markdown_cell(CHECK), "u-e", 2.0)) is None
    assert check_cell(graded(new_code_cell(CHECK), "u-e", 2.0, solution=True)) is None
    assert check_cell(new_code_cell(CHECK)) is None
