"""A mistake is named only if it predicts what was seen, in properties, too."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from autograder.checks.compare import compare, judge
from autograder.checks.exercise import RAISED, Case, CheckResult, Exercise, Mistake
from autograder.checks.naming import (
    PATTERN,
    Suspect,
    blame,
    diagnose,
    fits,
    pattern,
    uncontradicted_variants,
)

X = torch.tensor([1.0, -2.0, 4.0, 0.5])
LABELS = ("at first", "later")


def property_case(**patterns: str) -> Case:
    expected = {f"y · {label}": 2 * X for label in LABELS}
    mistakes = {name: {PATTERN: text} for name, text in patterns.items()}
    return Case(
        "property", "p", "", {}, expected, mistakes, says="Wrong {label}.", asks="Why?"
    )


PLAIN = Case(
    "plain", "plain", "", {}, {"y": 2 * X, "z": X.abs()},
    {"tripled": {"y": 3 * X, "z": X.abs()}, "signed": {"y": 2 * X, "z": X}},
)  # fmt: skip
BOTH = (PLAIN, property_case(tripled="xx", signed=""))
MISTAKES = {n: Mistake(n, f"It is {n}.", "Why?") for n in ("tripled", "signed")}
EXERCISE = Exercise("u/e", "E", 4.0, BOTH, MISTAKES)


def verdict(plain: dict, later: dict) -> CheckResult:
    return judge(EXERCISE, BOTH, lambda case: later if case.says else plain)


def in_property(*factors: float) -> dict:
    pairs = zip(LABELS, factors, strict=True)
    return {f"y · {label}": factor * X for label, factor in pairs}


TRIPLED = {"y": 3 * X, "z": X.abs()}


def test_a_mistake_that_predicts_all_is_sure():
    judgement = verdict(TRIPLED, in_property(3, 3))
    assert judgement.mistake.name == "tripled" and judgement.sure


def test_one_whose_property_fails_in_other_details_is_likely():
    judgement = verdict(TRIPLED, in_property(3, 2))
    assert judgement.mistake.name == "tripled" and not judgement.sure


def test_one_that_a_property_contradicts_is_only_likely():
    judgement = verdict(TRIPLED, in_property(2, 2))
    assert judgement.mistake.name == "tripled" and not judgement.sure
    signed = {"y": 2 * X, "z": X}
    judgement = verdict(signed, in_property(2, 3))
    assert judgement.mistake.name == "signed" and not judgement.sure
    judgement = verdict(signed, in_property(2, 2))
    assert judgement.mistake.name == "signed" and judgement.sure


def test_in_grading_an_answer_has_the_name_that_it_has_in_a_notebook():
    """Fresh drawings may look otherwise: they tell what is hidden, and only that."""
    results = [compare(PLAIN, TRIPLED), compare(BOTH[1], in_property(3, 3))]
    fresh = replace(PLAIN, mistakes={}, hidden=True)
    nonsense = compare(fresh, {"y": X / 0, "z": X})
    assert diagnose(EXERCISE, [*results, nonsense]) == diagnose(EXERCISE, results)
    unknown = compare(PLAIN, {"y": 7 * X, "z": X.abs()})
    assert diagnose(EXERCISE, [unknown, nonsense]) == diagnose(EXERCISE, [unknown])


def test_one_that_explains_only_some_answers_is_not_named():
    judgement = verdict({"y": 3 * X, "z": X * 7}, in_property(3, 3))
    assert judgement.mistake is None or judgement.mistake.name not in MISTAKES


SHAPES = "mat1 and mat2 shapes cannot be multiplied (2x3 and 2x3)"
NO_MEAN = "mean(): could not infer output dtype. Got: Long"


@pytest.mark.parametrize(
    ("predicted", "raised", "is_same"),
    [
        (f"RuntimeError: {SHAPES}", f"RuntimeError: mm: {SHAPES}", True),
        (f"RuntimeError: {NO_MEAN}", f"NotImplementedError: {NO_MEAN}", True),
        (f"NotImplementedError: {NO_MEAN}", f"RuntimeError: {NO_MEAN}", True),
        (f"RuntimeError: {SHAPES}", f"RuntimeError: {NO_MEAN}", False),
        (f"RuntimeError: {SHAPES}", f"ValueError: {SHAPES}", False),
    ],
)
def test_an_error_is_known_by_the_words_of_any_version_of_pytorch(
    predicted, raised, is_same
):
    case = replace(PLAIN, mistakes={"tripled": {RAISED: predicted}})
    exercise = replace(EXERCISE, cases=(case,))
    answer = {RAISED: f"{raised}\nin your line 2: return q @ k"}
    mistake = judge(exercise, [case], lambda _: answer).mistake
    assert (mistake is not None and mistake.name == "tripled") == is_same


def test_two_that_give_the_same_answers_are_both_only_likely():
    twins = {**MISTAKES, "twin": Mistake("twin", "Twin.", "Why?")}
    cases = [
        replace(c, mistakes={**c.mistakes, "twin": c.mistakes["tripled"]}) for c in BOTH
    ]
    results = [compare(cases[0], TRIPLED), compare(cases[1], in_property(3, 3))]
    mistake, sure = diagnose(replace(EXERCISE, mistakes=twins), results)
    assert mistake.name == "tripled" and not sure


def test_a_fresh_drawing_can_refute_a_name():
    redrawn = replace(PLAIN, mistakes={"tripled": {"y": 3 * X + 1, "z": X.abs()}})
    results = [compare(PLAIN, TRIPLED), compare(BOTH[1], in_property(3, 3))]
    tripled = EXERCISE.mistakes["tripled"]
    assert fits(results, tripled, exact=True)
    assert not fits([*results, compare(redrawn, TRIPLED)], tripled, exact=False)


def test_only_what_no_case_contradicts_is_possible():
    fresh = replace(PLAIN, mistakes={})
    assert uncontradicted_variants(EXERCISE, [compare(PLAIN, TRIPLED)]) == ["tripled"]
    assert uncontradicted_variants(EXERCISE, [compare(fresh, TRIPLED)]) == [
        "tripled",
        "signed",
    ]
    right = [compare(BOTH[1], in_property(2, 2)), compare(fresh, TRIPLED)]
    assert uncontradicted_variants(EXERCISE, right) == ["signed"]


def test_a_pattern_says_which_answers_are_wrong():
    case = BOTH[1]
    assert pattern(compare(case, in_property(2, 2))) == {PATTERN: ""}
    assert pattern(compare(case, in_property(2, 3))) == {PATTERN: ".x"}
    assert pattern(compare(case, {RAISED: "IndexError"})) == {PATTERN: RAISED}


def test_what_follows_from_an_earlier_failure_is_said_to():
    unknown = verdict({"y": 7 * X, "z": X * 5}, in_property(7, 7))
    suspect = Suspect("Exercise 1.1 (*A*)")
    fails = blame(unknown, [suspect]).mistake
    assert fails.says.startswith("This builds on Exercise 1.1 (*A*), which fails")
    assert "Fix it first" in fails.asks
    skipped = blame(unknown, [replace(suspect, unsolved=True, skipped=True)])
    assert "is not solved yet. The short path leaves it out." in skipped.mistake.says
    assert skipped.mistake.asks == "" and skipped.sure
    assert blame(unknown, []) == unknown
    named = verdict(TRIPLED, in_property(3, 3))
    assert blame(named, [suspect]) == named
