"""The share of the points comes with the numbers, and so does what is said of them."""

from __future__ import annotations

import json

import pytest

from autograder.checks.compare import compare
from autograder.checks.exercise import Case
from autograder.checks.measures import details, value_of

NUMBERS = {"recovery": 62.5, "bleu": 70.1, "case": 0.5, "says": "BLEU 70.1 of 91."}
CASE = Case(
    "c", "fresh", "", {}, {}, measure="recovery", scale=((0.0, 0.0), (100.0, 1.0))
)


def test_the_value_is_the_share_of_the_points():
    answers = {"recovery": json.dumps(NUMBERS)}
    result = compare(CASE, answers)
    assert result.credit == pytest.approx(0.625)
    assert result.findings[0].message == (
        "62.5; all points from 100 on. BLEU 70.1 of 91."
    )
    assert details("recovery", {}, answers) == {
        "recovery": 62.5, "bleu": 70.1, "case": 0.5
    }  # fmt: skip


@pytest.mark.parametrize("text", ["", "[]", "{}", "not JSON", '{"recovery": "x"}'])
def test_what_is_no_such_answer_is_worth_nothing(text):
    assert value_of("recovery", {}, {"recovery": text}) == 0
    assert compare(CASE, {"recovery": text}).credit == 0
