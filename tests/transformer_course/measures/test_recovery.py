"""The share of the points comes with the numbers, and so does what is said of them."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from autograder.checks.compare import compare
from autograder.checks.exercise import Case
from autograder.checks.measures import details, measure_answers
from autograder.checks.words import PARTLY
from transformer_course.measures.recovery import errors

NUMBERS = {"recovery": 62.5, "bleu": 70.1, "case": 0.5, "says": "BLEU 70.1: 62%."}
CASE = Case(
    "c", "fresh", "", {}, {}, measure="recovery", scale=((0.0, 0.0), (100.0, 1.0))
)


def test_the_value_is_the_share_of_the_points():
    answers = {"recovery": json.dumps(NUMBERS)}
    result = compare(CASE, answers)
    assert result.credit == pytest.approx(0.625)
    assert result.findings[0].message == "BLEU 70.1: 62%.", "one scale in one line"
    assert result.findings[0].problem == PARTLY and result.is_partial
    assert details("recovery", {}, answers) == {
        "recovery": 62.5, "bleu": 70.1, "case": 0.5
    }  # fmt: skip


@pytest.mark.parametrize("text", ["", "[]", "{}", "not JSON", '{"recovery": "x"}'])
def test_what_is_no_such_answer_is_worth_nothing(text):
    assert measure_answers("recovery", {}, {"recovery": text}) == (0.0, "")
    assert compare(CASE, {"recovery": text}).credit == 0


def test_answers_with_the_errors_of_the_shipped_checkpoint_are_worth_nothing():
    wanted = [f"sentence {i}" for i in range(80)]
    copied = json.dumps(errors([f"{w}!" for w in wanted[:40]], wanted))
    for shared, credit in ((40, 0.0), (29, 0.0), (28, 0.625)):
        texts = [f"{w}!" for w in wanted[:shared]] + wanted[shared:]
        answers = {
            "recovery": json.dumps(NUMBERS), "errors": json.dumps(errors(texts, wanted))
        }  # fmt: skip
        result = compare(replace(CASE, expected={"copied": copied}), answers)
        assert result.credit == pytest.approx(credit)
        assert ("checkpoint that ships" in result.findings[0].message) == (credit == 0)
