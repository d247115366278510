"""A small input is shown with both results, and their first difference is marked."""

import pytest
import torch
from hypothesis import given

from autograder.checks.boxes import visible_words
from autograder.checks.compare import compare
from autograder.checks.exercise import RAISED, Case, Other
from autograder.checks.side_by_side import compare_side_by_side, is_shown, named_text
from tests.grading.answering import run, tensors, texts

SQUARE = torch.ones(3, 3).tril().bool()


def side_by_side(expected, actual, **inputs):
    case = Case("small 1", "", "", inputs, {"result": expected})
    return compare_side_by_side(compare(case, {"result": actual}))


def test_lists_are_shown_as_lines_with_the_first_difference_below():
    table = side_by_side('["ab", "c"]', '["a", "b", "c"]', words='["abc"]')
    assert table.lines() == [
        'words = ["abc"]',
        '  expected  ["ab", "c"]',
        '  yours     ["a", "b", "c"]',
        "             ^^^",
    ]
    assert table.html.count("<b ") == 2
    assert ">&quot;ab&quot;</b>" in table.html and ">&quot;a&quot;</b>" in table.html


def test_a_longer_list_differs_where_the_shorter_one_ends():
    table = side_by_side("[1, 2]", "[1, 2, 3]")
    assert table.lines()[-1].index("^") == table.lines()[-2].index(", 3]")


def test_two_quotes_in_place_of_an_empty_text_are_marked():
    table = side_by_side("", '""')
    assert table.lines() == ['  expected  ""', '  yours     ""', "            ^^"]


def test_masks_are_shown_as_grids_with_the_row_that_differs():
    table = side_by_side(SQUARE, SQUARE.T, length=torch.tensor(3))
    assert table.lines() == [
        "length = 3",
        "  expected   yours",
        "  T F F      T T T   <--",
        "  T T F      F T T",
        "  T T T      F F T",
    ]
    assert visible_words(table.html) <= 15, "a row is one word"
    assert table.html.count("background-color") == 12, "what is True is filled"


def test_floats_have_as_many_digits_as_their_difference_takes():
    table = side_by_side(torch.tensor([2.0, 77.8801]), torch.tensor([2.0, 77.8923]))
    assert table.lines()[:2] == ["  expected      2 77.88", "  yours         2 77.89"]


def test_an_error_stands_in_place_of_a_result():
    case = Case("small 1", "", "", {"word": "a"}, {"symbols": '["a"]'})
    answers = {RAISED: "IndexError: list index out of range\nin your line 3: x[1]"}
    lines = compare_side_by_side(compare(case, answers)).lines()
    assert lines[-1] == "  yours     IndexError: list index out of range"


def test_another_shape_or_dtype_is_said_and_nothing_is_marked():
    for actual in (SQUARE[:2], SQUARE.long(), "None", Other("list")):
        table = side_by_side(SQUARE, actual)
        assert table.first_difference is None and table.remark


def test_of_several_results_the_one_that_differs_is_named():
    case = Case("s", "", "", {}, {"source": torch.ones(2), "target": torch.ones(2)})
    answers = {"source": torch.ones(2), "target": torch.zeros(2)}
    table = compare_side_by_side(compare(case, answers))
    assert table.name == "target" and "target, expected" in table.html


def test_a_large_answer_is_left_out():
    table = side_by_side(SQUARE, torch.zeros(99, 99))
    assert table.actual == [["..."]] and "99" in table.remark


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (torch.zeros(6, 6), True),
        (torch.zeros(1, 6, 1, 6), True),
        (torch.zeros(7), False),
        (torch.zeros(2, 2, 2), False),
        ("a" * 120, True),
        ("a" * 121, False),
    ],
)
def test_what_is_shown_is_small(value, expected):
    assert is_shown(value) is expected


def test_inputs_are_named_as_in_the_call():
    inputs = {"call": "{}", "make.d_model": torch.tensor(4), "word": '"\\u00df"'}
    assert named_text(inputs) == 'd_model = 4\nword = "ß"'


@run(200)
@given(tensors() | texts)
def test_whatever_a_sandbox_answers_is_shown_and_escaped(actual):
    case = Case("s", "", "", {"x": torch.ones(2)}, {"a": torch.tensor([1, 2])})
    result = compare(case, {"a": actual})
    if not result.passed:
        table = compare_side_by_side(result)
        assert len("\n".join(table.lines())) < 3000 and "<div><div>" not in table.html
