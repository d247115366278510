"""What no mistake explains as a whole is explained by parts, if one alone fits each."""

from __future__ import annotations

from dataclasses import replace

import torch

from autograder.checks.compare import judge
from autograder.checks.diagnostics.symptoms import SEEN
from autograder.checks.exercise import RAISED, Case, CheckResult, Exercise, Mistake
from autograder.checks.second_order import SKETCH, WHICH, sketch

X = torch.tensor([1.0, -2.0, 4.0, 0.5, 7.0])
MISTAKES = {n: Mistake(n, f"It is {n}.", f"Why {n}?") for n in ("tripled", "signed")}
RIGHT = {"y": 2 * X, "z": X.abs()}
TRIPLED, SIGNED = {"y": 3 * X, "z": X.abs()}, {"y": 2 * X, "z": X}


def case(name: str, **changes: object) -> Case:
    mistakes = {"tripled": TRIPLED, "signed": SIGNED}
    return replace(Case(name, name, "", {}, RIGHT, mistakes), **changes)


CASES = tuple(case(name) for name in "abcd")
EXERCISE = Exercise("u/e", "E", 4.0, CASES, MISTAKES)


def verdict(*answers: dict, cases: tuple[Case, ...] = CASES) -> CheckResult:
    answers_left = iter(answers)
    return judge(EXERCISE, cases, lambda _: next(answers_left))


def test_a_mistake_in_most_of_the_wrong_cases_is_likely():
    judgement = verdict(TRIPLED, TRIPLED, TRIPLED, {"y": 9 * X, "z": X})
    assert judgement.mistake.name == "tripled" and not judgement.sure
    assert judgement.mistake.says == "It is tripled."
    assert judgement.mistake.asks.endswith("Which cases still fail?")


def _unnamed(judgement: CheckResult) -> bool:
    """Whether no known mistake is named, only what is seen."""
    return judgement.mistake is None or judgement.mistake.name == SEEN


def test_a_mistake_in_less_than_half_of_them_is_not_named():
    unexplained = {"y": 9 * X, "z": X / 2}
    assert _unnamed(verdict(TRIPLED, unexplained, unexplained, unexplained))


def test_each_of_two_mistakes_in_cases_of_its_own_is_named():
    places = {"a": ("tripled", TRIPLED), "b": ("signed", SIGNED)}
    cases = tuple(
        case(name, mistakes={**dict.fromkeys(MISTAKES, RIGHT), mistake: answers})
        for name, (mistake, answers) in places.items()
    )
    diagnosis = verdict(TRIPLED, SIGNED, cases=cases).mistake
    assert diagnosis.name == "tripled + signed"
    assert diagnosis.says == (
        "There are two mistakes; correct one at a time, then run this again: "
        "(1) It is tripled. (2) It is signed."
    )
    assert diagnosis.asks == "(1) Why tripled? (2) Why signed?"


def test_an_input_that_has_changed_is_said_first_if_no_mistake_predicts_it():
    right, changed = RIGHT | {"x afterwards": X}, {"x afterwards": -X}
    mistakes = {"tripled": right | TRIPLED, "signed": right | SIGNED}
    aspects = {"x afterwards": "calls"}
    fields = {"inputs": {"x": X}, "expected": right, "aspects": aspects}
    cases = tuple(case(n, mistakes=mistakes, **fields) for n in "abcd")
    mistake = verdict(*[right | TRIPLED | changed] * 4, cases=cases).mistake
    assert mistake.name == "input_changed + tripled"
    assert "(1) Your code writes into its input: x has changed." in mistake.says
    mistakes["tripled"] |= changed
    mistake = verdict(*[right | TRIPLED | changed] * 3, TRIPLED | right, cases=cases)
    assert mistake.mistake.name == "tripled"


def test_what_two_mistakes_explain_alike_has_the_name_of_neither():
    twin = {"tripled": TRIPLED, "signed": TRIPLED}
    cases = tuple(replace(c, mistakes=twin) for c in CASES)
    unexplained = {"y": 9 * X, "z": X}
    assert _unnamed(verdict(TRIPLED, TRIPLED, TRIPLED, unexplained, cases=cases))


def test_what_may_agree_by_chance_has_no_name():
    """A few booleans, a number, a word: another mistake may answer the same."""
    expected, wrong = {"y": "float", "n": torch.tensor(2)}, {"y": "int"}
    mistakes = {"tripled": {**expected, **wrong}, "signed": expected}
    cases = tuple(case(n, expected=expected, mistakes=mistakes) for n in "ab")
    answers = ({**expected, **wrong}, {"y": "str", "n": torch.tensor(5)})
    mistake = verdict(*answers, cases=cases).mistake
    assert mistake is None or mistake.name not in MISTAKES


def test_two_mistakes_made_together_are_named_by_their_sketch():
    combined = {"y": 3 * X, "z": X}
    doubles = {
        WHICH: torch.tensor([[0, 1]], dtype=torch.int16),
        SKETCH: sketch(combined, RIGHT)[None],
    }
    cases = tuple(replace(c, doubles=doubles) for c in CASES)
    judgement = verdict(combined, combined, combined, combined, cases=cases)
    assert judgement.mistake.name == "tripled + signed" and judgement.sure
    far = {"y": 3 * X + 0.1, "z": X}
    assert verdict(far, far, far, far, cases=cases).mistake.name == "signed"


def test_single_numbers_tell_only_if_they_are_no_simple_fractions():
    """Scores of several cases do not agree by chance; counts and shares may."""
    for wrong, is_named in (((9.31, 4.77), True), ((0.5, 0.25), False)):
        answers = [{"score": torch.tensor(number)} for number in wrong]
        cases = tuple(
            case(n, expected={"score": torch.tensor(3.3)}, mistakes=mistakes)
            for n, answer in zip("ab", answers, strict=True)
            for mistakes in [{"tripled": answer, "signed": {"score": torch.ones(())}}]
        )
        # A third case shows something else, so that no mistake explains all.
        other = case("c", expected={"score": torch.tensor(3.3)}, mistakes={
            name: {"score": torch.tensor(2.7)} for name in MISTAKES})  # fmt: skip
        last = {"score": torch.tensor(7.77)}
        judgement = verdict(*answers, last, cases=(*cases, other))
        assert _unnamed(judgement) != is_named


def test_a_mistake_of_all_ordinary_cases_is_likely_where_a_property_contradicts_it():
    """An error with the same words tells little, unless all that is right is, too."""
    failing = {RAISED: "RuntimeError: out of range"}
    cases = tuple(
        case(n, mistakes={"tripled": failing if n == "a" else RIGHT, "signed": SIGNED})
        for n in "abc"
    )
    spread = replace(
        case("spread", says="Wrong {label}.", aspect="calls"),
        mistakes={"tripled": {"pattern": ""}, "signed": {"pattern": ""}},
    )
    judgement = verdict(failing, RIGHT, RIGHT, TRIPLED, cases=(*cases, spread))
    assert judgement.mistake.name == "tripled" and not judgement.sure
    always = verdict(failing, cases=cases[:1])
    assert always.mistake.name == "tripled" and always.sure


def test_two_mistakes_are_not_named_where_one_explains_all_that_they_were_tried_on():
    """Another variant of it, with another mistake, may answer the same."""
    doubles = {
        WHICH: torch.tensor([[0, 1]], dtype=torch.int16),
        SKETCH: sketch(TRIPLED, RIGHT)[None],
    }
    cases = (*(replace(c, doubles=doubles) for c in CASES), case("unlike"))
    answers = [TRIPLED] * len(CASES)
    judgement = verdict(*answers, {"y": 9 * X, "z": X / 3}, cases=cases)
    assert judgement.mistake.name == "tripled" and not judgement.sure
