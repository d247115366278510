"""What is built scores as it should, and is what is committed."""

from dataclasses import replace

import pytest
import torch

from autograder.authoring.course import products, refuse_wrong_scores
from autograder.course.errors import CourseError
from autograder.oracle import cases
from autograder.oracle.specification import Specification
from autograder.student.exercise import Exercise
from tests.conftest import by_cost

STUB = "def double(x):\n    raise NotImplementedError"


def drawn(specification: Specification) -> list[Exercise]:
    return [cases.exercise(specification, 10.0, "public", hidden=False)]


def test_a_blank_release_that_scores_is_refused(tiny_exercise):
    refuse_wrong_scores(tiny_exercise, drawn(tiny_exercise), STUB)
    with pytest.raises(CourseError, match="blank release scores 10 points"):
        refuse_wrong_scores(
            tiny_exercise, drawn(tiny_exercise), "def double(x):\n    return x+x"
        )


def test_a_solution_that_misses_a_point_is_refused(tiny_exercise):
    exercise = drawn(tiny_exercise)[0]
    spoilt = replace(exercise.cases[0], expected={"twice": torch.ones(3)})
    with pytest.raises(CourseError, match="does not score all points"):
        refuse_wrong_scores(tiny_exercise, [replace(exercise, cases=(spoilt,))], STUB)


@pytest.mark.parametrize("unit", by_cost())
def test_what_is_committed_is_what_the_build_gives(unit):
    for path, data in products(unit).items():
        data = data.encode() if isinstance(data, str) else data
        assert path.read_bytes() == data, f"{path.name} is stale; run `make build`"
