"""Answers are compared in order, and a wrong one is given its name."""

import json
import math

import pytest
import torch

from autograder.checks.compare import compare, judge
from autograder.checks.exercise import RAISED, Case, Exercise, Other
from autograder.checks.panel import as_html, as_text
from tests.conftest import row


def answering(function):
    return lambda case: {"twice": function(case.inputs["x"])}


def problem(expected, actual, **options):
    case = Case("c", "c", "", {}, {"a": expected}, **options)
    return compare(case, {} if actual is None else {"a": actual}).findings[0].problem


def message(expected, actual) -> str:
    case = Case("c", "c", "", {}, {"y": expected})
    return compare(case, {"y": actual}).findings[0].message


def test_right_answers_earn_all_points(doubling):
    verdict = judge(doubling, doubling.cases, answering(lambda x: x + x))
    assert verdict.points == 10 and verdict.passed and verdict.mistake is None


def test_a_known_mistake_is_named_for_sure(doubling):
    verdict = judge(doubling, doubling.cases, answering(lambda x: x + x + x))
    assert (verdict.points, verdict.mistake.name, verdict.sure) == (0, "tripled", True)


def test_an_unknown_mistake_is_not_named(doubling):
    verdict = judge(doubling, doubling.cases, answering(lambda x: x * x + 7))
    assert verdict.points == 0 and verdict.mistake is None


def test_half_of_the_cases_earn_half_of_the_points(doubling):
    verdict = judge(doubling, doubling.cases, answering(lambda x: 2 * x.abs()))
    assert verdict.points == 5


def test_drawings_of_one_case_count_once_and_only_together(doubling):
    case = doubling.cases[0]
    second_drawing = Case(
        case.name, case.title, "", {"x": row(7.0)}, {"twice": row(14.0)}
    )
    learnt = {"twice": case.expected["twice"]}
    verdict = judge(doubling, [case, second_drawing], lambda _: learnt)
    assert verdict.points == 0
    verdict = judge(doubling, [case, second_drawing], answering(lambda x: 2 * x))
    assert verdict.points == 10


def test_what_should_be_an_integer_is_told_as_a_number():
    description = message(torch.tensor(76), torch.tensor(76.0))
    assert description == "expected 76, yours 76.0"
    assert message(row(1).long(), row(1)) == "expected int64, yours float32"


def test_none_is_no_text():
    assert message(row(1), "None") == "expected a tensor, yours is None"
    assert message("None", row(1)) == "expected None, yours is a tensor"
    assert message(row(1), "none") == "expected a tensor, yours is 'none'"


def test_problems_are_found_in_order_of_type_shape_dtype_finite_values():
    wanted = row(1, 2)
    assert problem(wanted, None) == "missing"
    assert problem(wanted, "text") == "type"
    assert problem(wanted, Other("float")) == "type"
    assert problem(wanted, row(1, 2, 3).double()) == "shape"
    assert problem(wanted, row(9, float("nan")).double()) == "dtype"
    assert problem(wanted, row(9, float("nan"))) == "finite"
    assert problem(wanted, row(1, float("inf"))) == "finite"
    assert problem(wanted, row(1, 2.01)) == "values"
    assert problem(wanted, row(1, 2.000001)) == ""


def test_booleans_and_integers_are_compared_exactly():
    assert problem(torch.tensor([True, False]), torch.tensor([True, True])) == "values"
    big = 2**40
    assert problem(torch.tensor([big]), torch.tensor([big + 1])) == "values"


def test_an_error_is_the_only_finding(doubling):
    verdict = judge(doubling, doubling.cases, lambda _: {RAISED: "ValueError: no"})
    assert [f.problem for r in verdict.results for f in r.findings] == [RAISED] * 2


@pytest.mark.whole_course  # whose measure it names
def test_a_measured_case_earns_a_share():
    scale = ((0.5, 0.0), (1.0, 1.0))
    case = Case("m", "m", "", {}, {}, measure="exact_match", scale=scale)
    for share, credit in ((1.0, 1.0), (0.75, 0.5), (0.5, 0.0), (math.nan, 0.0)):
        assert compare(case, {"share": torch.tensor(share)}).credit == credit
    assert compare(case, {"share": Other("list")}).credit == 0
    assert compare(case, {"share": torch.ones(3)}).credit == 0
    assert compare(case, {}).credit == 0


@pytest.mark.whole_course  # whose measure it names
def test_a_measure_may_earn_a_bonus_that_plain_nbgrader_never_sees():
    scale = ((0.0, 0.0), (0.5, 1.0), (0.75, 1.0), (1.0, 1.25))
    case = Case("m", "m", "", {}, {}, measure="exact_match", scale=scale)
    exercise = Exercise("u/e", "E", 4.0, (case,))
    verdict = judge(exercise, (case,), lambda _: {"share": torch.tensor(1.0)})
    assert verdict.passed and verdict.points == 5.0 and repr(verdict) == "4.0"
    for text in (as_text(verdict), as_html(verdict)):
        assert "5 of 4 points" in text
        assert "1; all points from 0.5 on, a bonus above 0.75" in text


def test_long_texts_of_students_are_cut():
    case = Case("c", "c", "", {}, {"a": "short"})
    assert len(compare(case, {"a": "x" * 10**6}).findings[0].message) < 1000
    assert len(compare(case, {RAISED: "x" * 10**6}).findings[0].message) < 1000


def test_of_two_lists_the_first_items_that_differ_are_told():
    def first_message(expected: str, actual: str) -> str:
        case = Case("c", "c", "", {}, {"words": expected})
        return compare(case, {"words": actual}).findings[0].message

    words = json.dumps(["a", "b c", "d"])
    assert first_message(words, json.dumps(["a", "bc", "d"])) == (
        "1 of 3 items differ, first at [1]: expected 'b c', yours 'bc'"
    )
    message = first_message(words, json.dumps(["a", "b c"]))
    assert message.endswith("expected 'd', yours none")
    assert first_message("4 5", "5 4") == "expected '4 5', yours '5 4'"
    message = first_message(words, "[" * 100_000)  # no list at all
    assert message.startswith("expected '[")


def test_values_are_printed_until_their_difference_shows():
    def first_message(expected, actual) -> str:
        case = Case("c", "c", "", {}, {"a": expected}, atol=1e-8, rtol=0.0)
        return compare(case, {"a": actual}).findings[0].message

    near = first_message(torch.tensor([-1.303, 0.0]), torch.tensor([-1.30301, 0.0]))
    assert near.endswith("most at [0]: expected -1.30300, yours -1.30301")
    assert first_message(torch.tensor(2.0), torch.tensor(3.0)) == "expected 2, yours 3"


def test_booleans_are_entries_and_no_numbers():
    expected = torch.tensor([[True, False], [True, True]])
    case = Case("c", "c", "", {}, {"mask": expected})
    (finding,) = compare(case, {"mask": ~expected}).findings
    assert finding.message == (
        "4 of 4 entries differ, first at [0, 0]: expected True, yours False"
    )
