"""Right answers are computed precisely, wrong ones as a student's code would."""

from dataclasses import replace

import pytest
import torch

from autograder.authoring.answers import (
    GRID,
    LazyAnswers,
    expected_answers,
    mistaken_answers,
    mistaken_objects,
)
from autograder.checks.exercise import RAISED, Other
from autograder.course.errors import CourseError


def test_a_solution_that_fails_is_refused(tiny_exercise):
    with pytest.raises(CourseError, match="tiny/double: the solution fails"):
        expected_answers(tiny_exercise, lambda x: 1 / 0, {"x": "text"})


def test_complex_numbers_are_no_right_answer_and_may_be_a_wrong_one(tiny_exercise):
    with pytest.raises(CourseError, match="complex numbers"):
        answered(tiny_exercise, torch.Tensor.cfloat)
    x = torch.tensor([1.0])
    answers = mistaken_answers(tiny_exercise, {"m": torch.Tensor.cfloat}, {"x": x})
    assert answers == {"m": {"twice": Other("complex64 tensor")}}


def answered(specification, function):
    x = torch.tensor([1.0, 2.0, 3.0]) / 3
    return expected_answers(specification, function, {"x": x})["twice"]


def test_right_answers_are_computed_in_float64_and_stored_on_a_grid(tiny_exercise):
    dtypes = []
    answer = answered(tiny_exercise, lambda x: dtypes.append(x.dtype) or x.sqrt())
    assert dtypes == [torch.float64] and answer.dtype == torch.float32
    assert torch.equal(answer * GRID, (answer * GRID).round())
    assert torch.get_default_dtype() == torch.float32


def test_what_is_not_precise_is_computed_as_it_is(tiny_exercise):
    dtypes = []
    plain = replace(tiny_exercise, precise=False)
    answer = answered(plain, lambda x: dtypes.append(x.dtype) or x.sqrt())
    assert dtypes == [torch.float32]
    assert not torch.equal(answer * GRID, (answer * GRID).round())


def test_a_mutant_answers_in_its_first_way_or_only_where_it_is_asked(tiny_exercise):
    x = torch.tensor([1.0, -2.0])
    objects = mistaken_objects(tiny_exercise)
    answers = mistaken_answers(tiny_exercise, objects, {"x": x})
    assert answers["tripled"]["twice"].equal(3 * x)
    assert mistaken_objects(tiny_exercise, names=[]) == {}


def test_of_a_mutants_error_its_line_of_the_solution_is_not_kept(tiny_exercise):
    def fails(x):
        return x @ torch.ones(2)

    def refuses(x):
        raise ValueError("no")

    inputs, objects = {"x": torch.ones(1)}, {"a": fails, "b": refuses}
    answers = mistaken_answers(tiny_exercise, objects, inputs)
    message = str(answers["a"][RAISED])
    assert message.startswith("RuntimeError: ") and "\n" not in message
    assert answers["b"] == {RAISED: "ValueError"}


def test_a_late_answer_is_computed_once_and_only_if_somebody_asks():
    computed = []
    late = LazyAnswers({"x": "known"}, y=lambda: computed.append("y") or "computed")
    assert set(late) == {"x", "y"} and len(late) == 2 and "y" in late
    assert late["x"] == "known" and computed == []
    assert late["y"] == late["y"] == "computed" and computed == ["y"]
    with pytest.raises(KeyError):
        late["z"]
