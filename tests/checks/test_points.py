"""Points are divided over aspects, and nothing trivial scores."""

import json
from dataclasses import replace

import torch

from autograder.checks.compare import compare
from autograder.checks.exercise import RAISED, Case, Exercise
from autograder.checks.points import SEQUENCE, aspects, earned
from autograder.checks.properties import KEY
from autograder.checks.properties.learning import BY_HAND

X = torch.ones(3)
EXPECTED = {"y": X, "x": X, "slope": X}
DECLARED = {"x": "calls", "slope": "gradients"}
CASE = Case("c", "c", "", {}, EXPECTED, aspects=DECLARED)
EXERCISE = Exercise("u/e", "E", 9.0, (CASE,))


def points(**changed: torch.Tensor) -> dict[str, float]:
    tally = earned(EXERCISE, [compare(CASE, EXPECTED | changed)])
    return {aspect: share for aspect, (share, _) in tally.items()}


def test_answers_count_for_their_own_aspects():
    assert aspects(CASE) == ["values", "calls", "gradients"]
    assert points() == {"values": 6.0, "calls": 1.5, "gradients": 1.5}
    assert points(slope=0 * X)["gradients"] == 0
    assert points(x=0 * X)["calls"] == 0


def test_damage_costs_at_least_the_price_of_its_aspect():
    for name, aspect in DECLARED.items():
        tally = earned(EXERCISE, [compare(CASE, EXPECTED | {name: 0 * X})])
        assert tally[aspect] == (0.0, 4.5)  # half of all points
        assert all(share == most for a, (share, most) in tally.items() if a != aspect)
        assert abs(sum(share for share, _ in tally.values()) - 4.5) < 1e-9


def test_what_an_answer_is_called_decides_nothing():
    expected = {"y": X, "x afterwards": X, "gradient of x": X, "weights": X}
    case = Case("c", "c", "", {}, expected)
    exercise = Exercise("u/e", "E", 8.0, (case,))
    answer_result = compare(case, expected | {"gradient of x": 0 * X})
    assert earned(exercise, [answer_result]) == {"values": (0.0, 8.0)}


def test_a_slip_in_one_aspect_leaves_the_values():
    aspects = {"form": 0.1, "mode": 0.2, "errors": 0.1}
    case = Case(
        "c", "c", "", {}, dict.fromkeys(["y", *aspects], X),
        aspects={name: name for name in aspects},
    )  # fmt: skip
    exercise = Exercise("u/e", "E", 10.0, (case,))
    for name, least in aspects.items():
        tally = earned(exercise, [compare(case, case.expected | {name: 0 * X})])
        assert tally["values"][0] == tally["values"][1]
        assert [a for a, (share, _) in tally.items() if not share] == [name]
        assert sum(share for share, _ in tally.values()) <= 10 * (1 - least) + 1e-9
    wrong = {"form": 0 * X, "errors": 0 * X}
    tally = earned(exercise, [compare(case, case.expected | wrong)])
    assert abs(sum(share for share, _ in tally.values()) - 8.0) < 1e-9  # a fifth


def test_nothing_counts_beside_wrong_values_or_an_error():
    assert set(points(y=0 * X).values()) == {0.0}
    tally = earned(EXERCISE, [compare(CASE, {RAISED: "ValueError"})])
    assert {share for share, _ in tally.values()} == {0.0}


def test_drawings_of_a_case_count_once_and_together():
    wrong = EXPECTED | {"slope": 0 * X}
    tally = earned(EXERCISE, [compare(CASE, EXPECTED), compare(CASE, wrong)])
    assert tally["gradients"] == (0.0, 4.5)


def test_what_everybody_could_answer_counts_beside_something_else():
    error = {RAISED: "ValueError"}
    open_case = Case("known", "k", "", {}, error, aspect="errors", open=True)
    guess, drawn_anew = compare(open_case, open_case.expected), compare(CASE, {"y": -X})
    closed_result = compare(CASE, EXPECTED)  # the drawing that everybody knows
    for results in ([guess], [guess, closed_result, drawn_anew]):
        assert {points for points, _ in earned(EXERCISE, results).values()} == {0.0}
    assert earned(EXERCISE, [guess, closed_result])["errors"] == (0.9, 0.9)  # of 9


def test_the_word_of_the_sandbox_earns_nothing_and_costs_nothing():
    """Not beside the drawing that everybody knows, either."""
    inputs = {KEY: json.dumps({"parts": [{"way": "dropout"}]})}
    case = Case("d", "d", "", inputs, {"y": X}, aspect="mode")
    claimed = [compare(case, case.expected), compare(case, BY_HAND)]
    assert earned(EXERCISE, claimed) == {}
    solved = compare(CASE, EXPECTED)
    assert earned(EXERCISE, [solved, *claimed]) == earned(EXERCISE, [solved])


def two(**changed: torch.Tensor) -> dict[str, tuple[float, float]]:
    """What is earned with two results, of which the weights are a part."""
    expected = {"y": X, "w": X, "x": X}
    case = Case("c", "c", "", {}, expected, aspects={"w": "weights", "x": "calls"})
    exercise = Exercise("u/e", "E", 11.5, (case,))
    return earned(exercise, [compare(case, expected | changed)])


def test_a_part_of_the_results_counts_for_itself():
    right = {"values": (6.0, 6.0), "weights": (4.0, 4.0), "calls": (1.5, 1.5)}
    assert two() == right
    wrong_weights = two(w=0 * X)
    assert wrong_weights["weights"] == (0.0, 5.75)  # half
    assert wrong_weights["values"][0] > 0 < wrong_weights["calls"][0]
    assert two(y=0 * X) == {
        "values": (0.0, 6.0), "weights": (4.0, 4.0), "calls": (0.0, 1.5)
    }  # fmt: skip
    assert {share for share, _ in two(y=0 * X, w=0 * X).values()} == {0.0}


def test_of_parts_alone_one_that_is_right_is_enough_for_the_rest():
    expected = {"w_q.weight": X, "w_q.bias": X, "x": X}
    declared = {"w_q.weight": "weight", "w_q.bias": "bias", "x": "calls"}
    case = Case("c", "c", "", {}, expected, aspects=declared)
    exercise = Exercise("u/e", "E", 9.5, (case,), separate="two functions")
    tally = earned(exercise, [compare(case, expected | {"w_q.bias": 0 * X})])
    assert tally == {"weight": (4.0, 4.0), "bias": (0.0, 4.0), "calls": (1.5, 1.5)}
    wrong = {"w_q.bias": 0 * X, "w_q.weight": 0 * X}
    tally = earned(exercise, [compare(case, expected | wrong)])
    assert {share for share, _ in tally.values()} == {0.0}


def test_a_wrong_result_costs_half_in_however_few_cases_it_shows():
    cases = tuple(Case(f"c{n}", "c", "", {}, EXPECTED) for n in range(20))
    calls = Case("calls", "c", "", {}, {"x": X}, aspect="calls")
    exercise = Exercise("u/e", "E", 10.0, (*cases, calls))
    right = [compare(case, case.expected) for case in exercise.cases]
    for wrong, lost in ((1, 5.0), (2, 5.0), (15, 6.0)):
        slips = [compare(case, EXPECTED | {"y": 0 * X}) for case in cases[:wrong]]
        tally = earned(exercise, [*slips, *right[wrong:]])
        assert abs(10 - lost - sum(share for share, _ in tally.values())) < 1e-9


def test_unusual_inputs_count_as_far_as_ordinary_results_are_right():
    limit = Case("l", "l", "", {}, EXPECTED, aspect="limits")
    exercise = Exercise("u/e", "E", 10.0, (CASE, limit))
    only_limits = [compare(CASE, {"y": 0 * X}), compare(limit, EXPECTED)]
    assert sum(share for share, _ in earned(exercise, only_limits).values()) == 0
    wrong = [compare(CASE, EXPECTED), compare(limit, EXPECTED | {"y": 0 * X})]
    lost = [most - share for share, most in earned(exercise, wrong).values()]
    assert 1.0 <= sum(lost) <= 2.0
    not_a_number = compare(limit, EXPECTED | {"y": X / 0 * 0})
    tally = earned(exercise, [compare(CASE, EXPECTED), not_a_number])
    assert sum(share for share, _ in tally.values()) < 5.0 + 1e-9


def test_right_numbers_of_another_dtype_are_a_fault_in_form():
    ids, halves = torch.tensor([3, 16_777_217]), torch.tensor([0.1, 0.3])
    for right, cast, is_form in (
        (X, X.double(), True), (halves, halves.half(), True),
        (X, 2 * X.double(), False),
        (ids, ids.int(), True), (ids, ids.float(), False),
    ):  # fmt: skip
        case = Case("c", "c", "", {}, {"y": right})
        exercise = Exercise("u/e", "E", 10.0, (case,))
        tally = earned(exercise, [compare(case, {"y": cast})])
        lost = 10 - sum(share for share, _ in tally.values())
        assert (1 <= lost <= 2) if is_form else lost == 10


def test_what_is_wrong_in_one_call_is_not_charged_for_later_ones():
    later = Case(SEQUENCE, "s", "", {}, {"y": X}, aspect="calls", says="{label}")
    exercise = Exercise("u/e", "E", 10.0, (), separate="two functions")
    first, *others = (replace(CASE, name=name, aspects={}) for name in "abcd")
    results = [compare(first, {**EXPECTED, "y": 0 * X}), compare(later, {"y": 0 * X})]
    results += [compare(case, EXPECTED) for case in (CASE, *others)]
    lost = [most - share for share, most in earned(exercise, results).values()]
    assert sum(lost) < 5
    results.append(compare(CASE, EXPECTED | {"x": 0 * X}))  # it changes its argument
    lost = [most - share for share, most in earned(exercise, results).values()]
    assert sum(lost) > 5 - 1e-9


def test_where_each_case_is_a_task_of_its_own_one_of_them_costs_its_share():
    cases = tuple(Case(f"c{n}", "c", "", {}, {"y": X}) for n in range(10))
    answers = [compare(cases[0], {"y": 0 * X})]
    answers += [compare(case, case.expected) for case in cases[1:]]
    tally = earned(Exercise("u/e", "E", 10.0, cases, separate="ten bugs"), answers)
    assert tally == {"values": (9.0, 10.0)}
    tally = earned(Exercise("u/e", "E", 10.0, cases), answers)
    assert tally == {"values": (5.0, 10.0)}
