"""What a visible case answers, too, earns nothing by itself in grading."""

from dataclasses import replace

import torch

from autograder.checks.compare import compare
from autograder.checks.exercise import RAISED, Case, Exercise
from autograder.checks.interactor import BlindTrial, Interactor
from autograder.checks.points import earned
from autograder.grading.judge.preparing import prepare_check
from autograder.grading.judge.shipped_answers import mark_shipped

X = torch.arange(6.0).view(2, 3)
VISIBLE = (
    Case("wide", "w", "", {"x": X}, {"y": X + 9, "x afterwards": X}),
    Case("count", "c", "", {"x": X}, {"y": torch.tensor(3)}),
    Case(
        "refused", "r", "", {"x": X}, dict.fromkeys(("6 by 4", "9 by 2"), "ValueError")
    ),
)
OTHER = Case("other", "o", "", {"x": X + 1}, {"y": X + 20}, hidden=True)


def shipped(case: Case, side: type[Interactor] = Interactor) -> frozenset[str]:
    """The marks of a fresh case beside one whose answer nobody has."""
    first, second = mark_shipped([case, OTHER], VISIBLE, side)
    assert not second.shipped
    return first.shipped


def fresh(name: str, **expected: object) -> Case:
    return Case(name, name, "", {"x": X + 1}, expected, hidden=True)


def test_the_answer_of_the_visible_drawing_ships():
    assert shipped(fresh("wide", y=X + 9)) == {"values"}
    assert not shipped(fresh("wide", y=X + 10))
    assert not shipped(fresh("wide", y=(X + 9).double()))


def test_what_is_to_stay_as_it_was_is_nothing_to_find_out():
    expected = {"y": X + 10, "x afterwards": X + 1}
    case = replace(fresh("wide", **expected), aspects={"x afterwards": "calls"})
    assert shipped(case) == {"calls"}


def test_many_numbers_ship_in_whatever_case_and_one_number_in_its_own_only():
    assert shipped(fresh("count", y=X + 9)) == {"values"}
    assert shipped(fresh("count", y=torch.tensor(3))) == {"values"}
    assert not shipped(fresh("wide", y=torch.tensor(3)))


def test_an_error_that_is_always_the_same_ships_whatever_it_is_called():
    assert shipped(fresh("refused", **{"8 by 3": "ValueError"})) == {"values"}
    assert shipped(fresh("hidden only", **{RAISED: "ValueError"})) == {"values"}
    assert not shipped(fresh("refused", **{"8 by 3": "TypeError"}))


def test_what_lies_in_the_sandbox_or_is_one_number_everywhere_ships():
    assert shipped(fresh("wide", y=X + 1)) == {"values"}
    assert shipped(fresh("wide", y=torch.ones(2, 5, dtype=torch.bool))) == {"values"}

    class Keeps(Interactor):
        keeps = frozenset({"x"})

    assert not shipped(fresh("wide", y=X + 1), Keeps)


def test_what_the_judge_concludes_does_not_ship_nor_what_is_left_alone():
    """A right solution never earns nothing."""
    assert not shipped(fresh("refused", **{"8 by 3": "ValueError"}), BlindTrial)
    (case,) = mark_shipped([fresh("wide", y=X + 9)], VISIBLE, Interactor)
    assert not case.shipped


def points(*answers: object) -> float:
    """Of 10, for answers to "wide" (whose answer ships) and to another case."""
    cases = [
        VISIBLE[0],
        *mark_shipped([fresh("wide", y=X + 9), OTHER], VISIBLE, Interactor),
    ]
    results = [
        compare(case, {"y": y, "x afterwards": X})
        for case, y in zip(cases, answers, strict=True)
    ]
    exercise = Exercise("u/e", "E", 10.0, VISIBLE)
    return sum(share for share, _ in earned(exercise, results).values())


def test_who_repeats_earns_nothing_and_who_is_right_loses_nothing():
    assert points(X + 9, X + 9, 0 * X) == 0
    assert points(X + 9, X + 9, X + 20) == 10
    assert points(0 * X, X + 9, X + 20) == 5


def test_a_class_that_refuses_to_be_made_earns_nothing():
    fresh_cases = prepare_check(
        "multi_head_attention/multi_head_attention", "one"
    ).fresh
    refuse = [case for case in fresh_cases if case.name == "refuse"]
    assert refuse and all(case.shipped == {"errors"} for case in refuse)
