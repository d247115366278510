"""What no mistake explains as a whole is explained by parts, if one alone fits each."""

from __future__ import annotations

from dataclasses import replace

import torch

from autograder.checks.compare import judge
from autograder.checks.diagnostics.symptoms import SEEN
from autograder.checks.exercise import Case, CheckResult, Exercise, Mistake
from autograder.checks.second_order import SKETCH, WHICH, sketch

X = torch.tensor([1.0, -2.0, 4.0, 0.5, 7.0])
MISTAKES = {n: Mistake(n, f"It is {n}.", f"Why {n}?") for n in ("tripled", "signed")}
RIGHT = {"y": 2 * X, "z": X.abs()}
TRIPLED, SIGNED = {"y": 3 * X, "z": X.abs()}, {"y": 2 * X, "z": X}


def case(name: str, **changes: object) -> Case:
    known = {"tripled": TRIPLED, "signed": SIGNED}
    return replace(Case(name, name, "", {}, RIGHT, known), **changes)


CASES = tuple(case(name) for name in "abcd")
EXERCISE = Exercise("u/e", "E", 4.0, CASES, MISTAKES)


def verdict(*answers: dict, cases: tuple[Case, ...] = CASES) -> CheckResult:
    given = iter(answers)
    return judge(EXERCISE, cases, lambda _: next(given))


def test_a_mistake_in_most_of_the_wrong_cases_is_likely():
    found = verdict(TRIPLED, TRIPLED, TRIPLED, {"y": 9 * X, "z": X})
    assert found.mistake.name == "tripled" and not found.sure
    assert found.mistake.says == "It is tripled."
    assert found.mistake.asks.endswith("Which cases still fail?")


def _unnamed(found: CheckResult) -> bool:
    """Whether no known mistake is named, only what is seen."""
    return found.mistake is None or found.mistake.name == SEEN


def test_a_mistake_in_less_than_half_of_them_is_not_named():
    other = {"y": 9 * X, "z": X / 2}
    assert _unnamed(verdict(TRIPLED, other, other, other))


def test_each_of_two_mistakes_in_cases_of_its_own_is_named():
    places = {"a": ("tripled", TRIPLED), "b": ("signed", SIGNED)}
    cases = tuple(
        case(name, mistakes={**dict.fromkeys(MISTAKES, RIGHT), mistake: answers})
        for name, (mistake, answers) in places.items()
    )
    found = verdict(TRIPLED, SIGNED, cases=cases).mistake
    assert found.name == "tripled + signed"
    assert found.says == (
        "There are two mistakes; correct one at a time, then run this again: "
        "(1) It is tripled. (2) It is signed."
    )
    assert found.asks == "(1) Why tripled? (2) Why signed?"


def test_an_input_that_has_changed_is_said_first_if_no_mistake_predicts_it():
    right, changed = RIGHT | {"x afterwards": X}, {"x afterwards": -X}
    known = {"tripled": right | TRIPLED, "signed": right | SIGNED}
    given = {
        "inputs": {"x": X},
        "expected": right,
        "aspects": {"x afterwards": "calls"},
    }
    cases = tuple(case(n, mistakes=known, **given) for n in "abcd")
    found = verdict(*[right | TRIPLED | changed] * 4, cases=cases).mistake
    assert found.name == "input_changed + tripled"
    assert "(1) Your code writes into its input: x has changed." in found.says
    known["tripled"] |= changed
    found = verdict(*[right | TRIPLED | changed] * 3, TRIPLED | right, cases=cases)
    assert found.mistake.name == "tripled"


def test_what_two_mistakes_explain_alike_has_the_name_of_neither():
    twin = {"tripled": TRIPLED, "signed": TRIPLED}
    cases = tuple(replace(c, mistakes=twin) for c in CASES)
    other = {"y": 9 * X, "z": X}
    assert _unnamed(verdict(TRIPLED, TRIPLED, TRIPLED, other, cases=cases))


def test_what_may_agree_by_chance_has_no_name():
    """A few booleans, a number, a word: another mistake may answer the same."""
    expected, wrong = {"y": "float", "n": torch.tensor(2)}, {"y": "int"}
    known = {"tripled": {**expected, **wrong}, "signed": expected}
    cases = tuple(case(n, expected=expected, mistakes=known) for n in "ab")
    given = ({**expected, **wrong}, {"y": "str", "n": torch.tensor(5)})
    found = verdict(*given, cases=cases).mistake
    assert found is None or found.name not in MISTAKES


def test_two_mistakes_made_together_are_named_by_their_sketch():
    both = {"y": 3 * X, "z": X}
    kept = {
        WHICH: torch.tensor([[0, 1]], dtype=torch.int16),
        SKETCH: sketch(both, RIGHT)[None],
    }
    cases = tuple(replace(c, doubles=kept) for c in CASES)
    found = verdict(both, both, both, both, cases=cases)
    assert found.mistake.name == "tripled + signed" and found.sure
    far = {"y": 3 * X + 0.1, "z": X}
    assert _unnamed(verdict(far, far, far, far, cases=cases))
