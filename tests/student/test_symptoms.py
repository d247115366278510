"""What is said of a wrong answer that no known mistake explains was seen in it."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from autograder.student.compare import judge
from autograder.student.exercise import RAISED, Case, Exercise
from autograder.student.symptoms import SEEN

X = torch.arange(12.0).reshape(3, 4).cos()
RIGHT = X.cumsum(0)
EXERCISE = Exercise("u/e", "E", 4.0, ())


def case(name: str, turn: int) -> Case:
    expected = {
        "output": RIGHT.roll(turn, 1),
        "weights": X.roll(turn, 1).softmax(-1),
        "output, second call": RIGHT.roll(turn, 1),
        "x afterwards": X.roll(turn, 1),
        "gradient of x": torch.ones_like(X) * (turn + 1),
    }
    return Case(name, name, "", {"x": X.roll(turn, 1)}, expected)


CASES = [case("a", 0), case("b", 1)]


def said(change: Callable[[dict], dict]) -> str:
    verdict = judge(EXERCISE, CASES, lambda case: change(dict(case.expected)))
    if verdict.mistake is None:
        return ""
    assert verdict.mistake.name == SEEN and verdict.sure and verdict.mistake.asks
    return verdict.mistake.says


def changed(*names: str, by: Callable) -> Callable[[dict], dict]:
    return lambda right: right | {name: by(right[name]) for name in names}


def swapped(right: dict) -> dict:
    return right | {"output": right["weights"], "weights": right["output"]}


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda _: {RAISED: "expected output to be a tensor, got None"}, "Nothing"),
        (changed("x afterwards", by=lambda x: x + 1), "writes into what it was given"),
        (changed("gradient of x", by=torch.zeros_like), "the gradient of x is not"),
        (changed("output, second call", by=lambda x: x + X), "Right at first"),
        (changed("output", by=lambda x: x.half()), "of the type float16 instead of"),
        (changed("output", by=lambda x: x / 0), "NaN or infinite"),
        (changed("output", by=torch.zeros_like), "Only zeros"),
        (swapped, "changed places"),
        (changed("output", by=lambda x: x[None]), "in the shape (1, 3, 4) instead of"),
        (changed("output", by=lambda x: x.T.reshape(3, 4)), "at other places"),
        (changed("output", by=lambda x: -2.5 * x), "Every number is -2.5 times"),
        (changed("output", by=lambda x: x.bfloat16().float()), "Nearly right"),
        (
            changed("output", by=lambda x: torch.cat([x[:1], x[1:].cos() + 2])),
            "Only the first entry",
        ),
    ],
)
def test_a_symptom_is_told(change, says):
    assert says in said(change)


def test_an_input_that_comes_back_is_known():
    def unchanged(right: dict) -> dict:
        return right | {"output": right["x afterwards"]}

    assert said(unchanged) == "What comes back is `x`, as it was given."


def test_nothing_is_said_of_what_is_wrong_in_several_ways():
    def two_ways(right: dict) -> dict:
        return right | {"output": 2 * right["output"], "weights": right["weights"] / 0}

    assert said(two_ways) == ""


def test_a_symptom_holds_for_every_wrong_case():
    def one_each(case: Case) -> dict:
        factor = 2.0 if case.name == "a" else 3.0
        return dict(case.expected) | {"output": factor * case.expected["output"]}

    assert judge(EXERCISE, CASES, one_each).mistake is None
