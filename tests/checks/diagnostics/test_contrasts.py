"""Where nothing else is seen, it is told what is right and what is not."""

from __future__ import annotations

import torch

from autograder.checks.compare import compare
from autograder.checks.diagnostics.symptoms import of_all
from autograder.checks.exercise import RAISED, Case
from tests.checks.diagnostics.seen import judged

X = torch.arange(1.0, 7.0).reshape(2, 3)
RIGHT = ({"output": X}, {"output": X})
WRONG = ({"output": X}, {"output": X**2})
OTHER = ({"output": X}, {"output": 30 - X**3})


def told(*pairs, hidden: bool = False) -> str:
    found = of_all(judged(*pairs, hidden=hidden))
    return found.says if found else ""


def test_the_one_case_that_is_wrong_is_told():
    cases = (RIGHT, RIGHT, WRONG, RIGHT)
    assert told(*cases) == "Only one of the visible cases is wrong: case 2."
    assert told(*cases, hidden=True) == "Only one case is wrong: case 2."
    assert told(RIGHT, WRONG, RIGHT) == told(WRONG, RIGHT, OTHER, RIGHT) == ""


def test_the_one_answer_that_is_wrong_is_told():
    first = ({"nats": X, "bits": X}, {"nats": X, "bits": X**2})
    other = ({"nats": X, "bits": X}, {"nats": 30 - X**3, "bits": 30 - X**3})
    says = 'In one case ("case 0") "nats" is right, but "bits" is not.'
    assert told(first, other) == says
    assert told(first, ({"nats": X, "bits": X}, {"nats": X**2, "bits": X})) == ""


def test_an_error_in_a_measured_case_is_told():
    case = Case("m", "m", "", {}, {"rate": X}, measure="share", scale=((1.0, 1.0),))
    lost = compare(case, {RAISED: "NameError: name 'model' is not defined"})
    assert "`model`, which is not defined" in of_all([lost]).says
