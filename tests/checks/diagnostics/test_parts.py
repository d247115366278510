"""Of several slips at once, what is true of a part is told."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from autograder.checks.compare import compare
from autograder.checks.diagnostics.symptoms import of_all
from autograder.checks.exercise import RAISED, Case
from tests.checks.answered import X

FLAT = X.flatten()
RIGHT = {
    "output": X,
    "mask": X > 0,
    "ids": torch.arange(5),
    "gradient of x": FLAT,
    "x afterwards": X,
    "rows afterwards": "1 2; 3",
    "symbols afterwards": '["a", "b"]',
    "weight afterwards": "the same",
    "everything as it was afterwards": "True",
    "parameters that are missing": "none",
    "other parameters": "none",
    "with an odd size": "ValueError",
}
WRONG = {"output": X.sin() + X}  # which nothing explains
CASES = [Case(name, name, "", {"x": X, "rows": "1 2; 3"}, RIGHT) for name in "ab"]


def diagnose_pair(*answers: dict):
    """The symptom of two cases with these wrong answers beside right ones."""
    completed = [answer if RAISED in answer else RIGHT | answer for answer in answers]
    return of_all([compare(c, a) for c, a in zip(CASES, completed, strict=True)])


def says_only_what_is_right(symptom) -> bool:
    """Whether nothing is said of what is wrong."""
    return symptom is None or "came out right" in symptom.says


def test_what_nothing_explains_is_not_told():
    assert says_only_what_is_right(diagnose_pair(WRONG, WRONG))


@pytest.mark.parametrize(
    ("slip", "message"),
    [
        (
            {"parameters that are missing": "`w_o.bias`"},
            "Your module lacks `w_o.bias`.",
        ),
        ({"other parameters": "w.bias"}, "holds more than is asked for: w.bias."),
        ({"x afterwards": -X}, "writes into its input: x has changed."),
        ({"rows afterwards": "2 1; 3"}, "writes into its input: rows has changed."),
        ({"symbols afterwards": '["ab"]'}, "its input: symbols has changed."),
        (
            {"gradient of x": 0 * FLAT},
            "No gradient arrives: the gradient of x is zero.",
        ),
        ({"mask": (X > 0.5).byte()}, "The dtype of mask is uint8 instead of bool."),
        ({"with an odd size": "no error"}, "your code raises no error (with an odd"),
        ({"ids": torch.arange(6)}, '"ids" is right, but there is something behind'),
        ({"mask": X[:, :3] > 0}, "Dimension 1 of mask is too short by 1."),
        ({"ids": torch.arange(3)}, "ids: 2 too few."),
        ({"ids": "none"}, "ids: expected a tensor, yours is 'none'."),
    ],
)
def test_a_symptom_of_a_part_is_told_beside_other_wrong_answers(slip, message):
    for other in (slip, WRONG | slip):
        symptom = diagnose_pair(WRONG | slip, other)
        assert symptom and message in symptom.says
        assert symptom.asks.endswith("Correct that first. Which cases still fail?")


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ({"other parameters": "a"}, {"other parameters": "b"}),
        ({"gradient of x": 0 * FLAT}, {"gradient of x": 2 + FLAT}),
        ({"ids": torch.arange(6)}, {"ids": torch.arange(4)}),
        ({"ids": torch.arange(6) % 2}, {"ids": torch.arange(6) % 2}),  # another text
        ({"everything as it was afterwards": "False"}, {}),
        ({"weight afterwards": "a different one"}, {}),  # that is no input
    ],
)
def test_what_is_not_the_same_in_all_cases_is_not_told(first, second):
    assert says_only_what_is_right(diagnose_pair(WRONG | first, WRONG | second))


def test_a_gradient_of_a_result_of_another_shape_is_not_told():
    symptom = diagnose_pair({"gradient of x": 0 * FLAT, "mask": X.T > 0}, WRONG)
    assert symptom.says.startswith('The dimensions of "mask" are in a different order')


def test_a_changed_input_comes_before_what_is_seen_of_the_values():
    turned = {"output": X.flip(0)}
    assert "at the wrong positions" in diagnose_pair(turned, turned).says
    symptom = diagnose_pair(turned | {"x afterwards": X.flip(0)}, turned)
    assert symptom.says == "Your code writes into its input: x has changed."


def test_a_changed_list_is_asked_about_as_one():
    assert "`append`" in diagnose_pair(WRONG | {"symbols afterwards": "[]"}, WRONG).asks
    assert "`&=`" in diagnose_pair(WRONG | {"x afterwards": -X}, WRONG).asks


def test_the_commonest_kind_of_error_is_told_beside_wrong_values():
    deep = {RAISED: "RecursionError: too deep"}
    symptom = diagnose_pair(deep, WRONG)
    assert symptom.says == "Your function keeps calling itself."
    assert "Some cases fail for another reason." in symptom.asks
    assert diagnose_pair({RAISED: "KeyboardInterrupt: "}, WRONG) is None


def test_what_is_no_number_in_some_cases_is_told():
    symptom = diagnose_pair({"output": X / 0}, WRONG)
    message = "In some of the cases that fail, there is NaN or infinity in output."
    assert symptom.says == message


@pytest.mark.parametrize(
    ("right", "actual", "message"),
    [
        ("rejected", "accepted", "accepts something faulty here: two bugs. It"),
        ("accepted", "rejected", "rejects something that is right"),
    ],
)
def test_a_test_that_errs_on_one_side_is_told(right, actual, message):
    expected = {"the first": right, "the other": actual}
    case = Case("c", "two bugs", "", {}, expected)
    symptom = of_all([compare(case, {"the first": actual, "the other": actual})])
    assert message in symptom.says
    swapped = of_all([compare(case, {"the first": actual, "the other": right})])
    assert swapped.says == "Your test rejects something that is right."


def test_an_error_that_the_code_raises_itself_goes_before_what_is_wrong_elsewhere():
    raised = {RAISED: 'ValueError: no\nin your line 4: raise ValueError("no")'}
    elsewhere = {RAISED: 'ValueError: row\nin your line 6: raise ValueError("row")'}
    message = "In most of the cases that fail, your own code raises a `ValueError`."
    three = [Case(name, name, "", {}, RIGHT) for name in "abc"]
    answers = raised, elsewhere, RIGHT | {"with an odd size": "no error"}
    symptom = of_all([compare(c, a) for c, a in zip(three, answers, strict=True)])
    assert symptom.says == message
    fewer = raised, answers[-1], answers[-1]
    symptom = of_all([compare(c, a) for c, a in zip(three, fewer, strict=True)])
    assert symptom is None or symptom.says != message


def test_what_is_observed_beside_a_result_is_not_quoted_while_the_result_is_wrong():
    right = {"w.bias": X, "last digits of w.bias": X, "gradient of x": X, "form": X}
    aspects = {"form": "form", "gradient of x": "gradients"}
    cases = [Case(n, n, "", {"x": X}, right, aspects=aspects) for n in "ab"]
    spoilt = {"last digits of w.bias": 0 * X + (X > 0) * X, "form": X[:, :2]}
    spoilt |= {"gradient of x": 3 * X}
    for result, is_quoted in (({}, True), ({"w.bias": X.sin() + X}, False)):
        answer = right | spoilt | result
        symptom = of_all([compare(case, answer) for case in cases])
        says = symptom.says if symptom else ""
        quoted = any(f'"{name}"' in says or f" {name} " in says for name in spoilt)
        assert quoted == is_quoted, says


def test_the_same_word_is_told_of_results_only():
    """The value of an observation beside them, like "none", is nobody's answer."""
    expected = [f"row {n}" for n in "abc"]
    for aspects, is_told in (({}, True), ({"start": "learning"}, False)):
        cases = [Case(e, e, "", {}, {"start": e}, aspects=aspects) for e in expected]
        symptom = of_all([compare(case, {"start": "none"}) for case in cases])
        assert bool(symptom and "Wherever your answer" in symptom.says) == is_told


def test_a_test_that_rejects_only_sometimes_is_told():
    """In grading, each patient comes up several times."""
    right = {"the first": "rejected", "the other": "accepted"}
    case = Case("c", "c", "", {}, right)
    symptom = of_all([compare(case, right | {"the first": "sometimes rejected"})])
    assert "accepts something faulty here: c. It" in symptom.says
    hidden = replace(case, hidden=True)
    symptom = of_all([compare(hidden, right | {"the first": "sometimes rejected"})])
    assert "accepts some of what is faulty; it" in symptom.says
    symptom = of_all([compare(case, right | {"the other": "sometimes rejected"})])
    assert symptom.says == "Your test rejects something that is right."
