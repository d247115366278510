"""An exercise with several results, answered in ways that no known mistake explains."""

from __future__ import annotations

from collections.abc import Callable

import torch

from autograder.checks.compare import judge
from autograder.checks.diagnostics.symptoms import SEEN
from autograder.checks.exercise import Case, Exercise

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


def describe_mistake(change: Callable[[dict], dict]) -> str:
    verdict = judge(EXERCISE, CASES, lambda case: change(dict(case.expected)))
    if verdict.mistake is None:
        return ""
    assert verdict.mistake.name == SEEN and verdict.sure and verdict.mistake.asks
    return verdict.mistake.says


def change(name: str, by: Callable) -> Callable[[dict], dict]:
    return lambda right: right | {name: by(right[name])}
