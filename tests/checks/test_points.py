"""Points are divided over aspects, and nothing trivial scores."""

import json
from dataclasses import replace

import torch

from autograder.checks.compare import compare
from autograder.checks.exercise import RAISED, Case, Exercise
from autograder.checks.points import aspects, earned, possible
from autograder.checks.properties import KEY
from autograder.checks.properties.learning import BY_HAND

X = torch.ones(3)
EXPECTED = {"y": X, "x": X, "slope": X}
CASE = Case("c", "c", "", {}, EXPECTED, aspects={"x": "calls", "slope": "learning"})
EXERCISE = Exercise("u/e", "E", 9.0, (CASE,))


def points(**changed: torch.Tensor) -> dict[str, float]:
    tally = earned(EXERCISE, [compare(CASE, EXPECTED | changed)])
    return {aspect: share for aspect, (share, _) in tally.items()}


def test_answers_count_for_their_own_aspects():
    assert aspects(CASE) == ["values", "calls", "learning"]
    assert points() == {"values": 6.0, "calls": 1.5, "learning": 1.5}
    assert points(slope=0 * X) == {"values": 6.0, "calls": 1.5, "learning": 0.0}
    assert points(x=0 * X)["calls"] == 0


def test_what_an_answer_is_called_decides_nothing():
    expected = {"y": X, "x afterwards": X, "gradient of x": X, "weights": X}
    case = Case("c", "c", "", {}, expected)
    exercise = Exercise("u/e", "E", 8.0, (case,), aspects={"weights": 2.0})
    answer_result = compare(case, expected | {"gradient of x": 0 * X})
    assert earned(exercise, [answer_result]) == {"values": (0.0, 8.0)}


def test_a_slip_in_one_aspect_leaves_the_values():
    aspects = ["form", "mode", "errors"]
    case = Case(
        "c", "c", "", {}, dict.fromkeys(["y", *aspects], X),
        aspects={name: name for name in aspects},
    )  # fmt: skip
    exercise = Exercise("u/e", "E", 10.0, (case,))
    for name in aspects:
        tally = earned(exercise, [compare(case, case.expected | {name: 0 * X})])
        assert tally["values"] == (6.0, 6.0)
        assert [a for a, (share, _) in tally.items() if not share] == [name]


def test_nothing_counts_beside_wrong_values_or_an_error():
    assert set(points(y=0 * X).values()) == {0.0}
    tally = earned(EXERCISE, [compare(CASE, {RAISED: "ValueError"})])
    assert {share for share, _ in tally.values()} == {0.0}


def test_drawings_of_a_case_count_once_and_together():
    wrong = EXPECTED | {"slope": 0 * X}
    tally = earned(EXERCISE, [compare(CASE, EXPECTED), compare(CASE, wrong)])
    assert tally["learning"] == (0.0, 1.5) and tally["values"] == (6.0, 6.0)


def test_what_everybody_could_answer_counts_beside_something_else():
    open_case = Case(
        "known", "k", "", {}, {RAISED: "ValueError"}, aspect="errors", open=True
    )
    guess, drawn_anew = (
        compare(open_case, open_case.expected),
        compare(CASE, {"y": 0 * X}),
    )
    closed_result = compare(CASE, EXPECTED)  # the drawing that everybody knows
    for results in ([guess], [guess, closed_result, drawn_anew]):
        assert {points for points, _ in earned(EXERCISE, results).values()} == {0.0}
    assert earned(EXERCISE, [guess, closed_result])["errors"] == (0.9, 0.9)


def test_the_word_of_the_sandbox_earns_nothing_and_costs_nothing():
    """Not beside the drawing that everybody knows, either."""
    inputs = {KEY: json.dumps({"parts": [{"way": "dropout"}]})}
    case = Case("d", "d", "", inputs, {"y": X}, aspect="mode")
    claimed = [compare(case, case.expected), compare(case, BY_HAND)]
    assert earned(EXERCISE, claimed) == {}
    solved = compare(CASE, EXPECTED)
    assert earned(EXERCISE, [solved, *claimed]) == earned(EXERCISE, [solved])


def test_an_exercise_may_weigh_its_aspects():
    exercise = Exercise("u/e", "E", 10.0, (), aspects={"learning": 4.0})
    assert possible(exercise, ["values", "learning"]) == {
        "values": 6.0,
        "learning": 4.0,
    }


def two(**changed: torch.Tensor) -> dict[str, tuple[float, float]]:
    """What is earned with two results, of which the weights are a part."""
    expected = {"y": X, "w": X, "x": X}
    declared = {"w": "weights", "x": "calls"}
    case = Case("c", "c", "", {}, expected, aspects=declared)
    exercise = Exercise("u/e", "E", 9.5, (case,), aspects={"weights": 2.0})
    return earned(exercise, [compare(case, expected | changed)])


def test_a_part_of_the_results_counts_for_itself():
    right = {"values": (6.0, 6.0), "weights": (2.0, 2.0), "calls": (1.5, 1.5)}
    assert two() == right
    assert two(w=0 * X) == right | {"weights": (0.0, 2.0)}
    assert two(y=0 * X) == {
        "values": (0.0, 6.0), "weights": (2.0, 2.0), "calls": (0.0, 1.5)
    }  # fmt: skip
    assert {share for share, _ in two(y=0 * X, w=0 * X).values()} == {0.0}


def test_of_parts_alone_one_that_is_right_is_enough_for_the_rest():
    expected = {"w_q.weight": X, "w_q.bias": X, "x": X}
    declared = {"w_q.weight": "weight", "w_q.bias": "bias", "x": "calls"}
    case = Case("c", "c", "", {}, expected, aspects=declared)
    weights = {"weight": 2.0, "bias": 1.5}
    exercise = Exercise("u/e", "E", 5.0, (case,), aspects=weights)
    tally = earned(exercise, [compare(case, expected | {"w_q.bias": 0 * X})])
    assert tally == {"weight": (2.0, 2.0), "bias": (0.0, 1.5), "calls": (1.5, 1.5)}
    wrong = {"w_q.bias": 0 * X, "w_q.weight": 0 * X}
    tally = earned(exercise, [compare(case, expected | wrong)])
    assert {share for share, _ in tally.values()} == {0.0}


def test_a_wrong_result_costs_something_in_however_few_cases_it_shows():
    cases = tuple(Case(f"c{n}", "c", "", {}, EXPECTED) for n in range(20))
    calls = Case("calls", "c", "", {}, {"x": X}, aspect="calls")
    exercise = Exercise("u/e", "E", 10.0, (*cases, calls))
    right = [compare(case, case.expected) for case in exercise.cases]
    for wrong, lost in ((1, 1.5), (2, 1.5), (10, 4.0)):
        slips = [compare(case, EXPECTED | {"y": 0 * X}) for case in cases[:wrong]]
        tally = earned(exercise, [*slips, *right[wrong:]])
        assert abs(10 - lost - sum(share for share, _ in tally.values())) < 1e-9


def test_a_wrong_later_call_costs_as_much_and_a_wrong_form_does_not():
    for aspect, remaining in (("calls", 8.5), ("form", 9.0)):
        other_case = Case("o", "o", "", {}, {"x": X}, aspect=aspect)
        weights = {"values": 9.0, aspect: 1.0}
        exercise = Exercise("u/e", "E", 10.0, (CASE, other_case), aspects=weights)
        right = compare(replace(CASE, aspects={}), EXPECTED)
        tally = earned(exercise, [right, compare(other_case, {"x": 0 * X})])
        assert abs(sum(share for share, _ in tally.values()) - remaining) < 1e-9


def test_where_each_case_is_a_task_of_its_own_one_of_them_costs_its_share():
    cases = tuple(Case(f"c{n}", "c", "", {}, {"y": X}) for n in range(10))
    answers = [compare(cases[0], {"y": 0 * X})]
    answers += [compare(case, case.expected) for case in cases[1:]]
    tally = earned(Exercise("u/e", "E", 10.0, cases), answers)
    assert tally == {"values": (9.0, 10.0)}
