"""Sketches recognise a large answer, and tell others from it."""

import pytest
import torch

from autograder.checks.exercise import Case
from autograder.checks.sketches import sketch_tensor
from autograder.checks.stored_answers import shorten

ATOL, RTOL = 1e-5, 1e-4
ANSWER = torch.linspace(-3, 40, 60).reshape(3, 4, 5)
WITHOUT_NUMBERS = ANSWER.clone().fill_(float("nan"))


@pytest.mark.parametrize("answer", [ANSWER, 1e9 * ANSWER, WITHOUT_NUMBERS, ANSWER > 2])
def test_an_answer_that_differs_by_rounding_is_recognised(answer):
    rounded = answer if answer.dtype == torch.bool else answer * (1 + 1e-6)
    assert sketch_tensor(answer).matches(rounded, ATOL, RTOL)


@pytest.mark.parametrize(
    "other",
    [
        ANSWER.flip(0), ANSWER.mT.reshape(3, 4, 5), 1.01 * ANSWER, ANSWER.double(),
        ANSWER.reshape(4, 3, 5), WITHOUT_NUMBERS, "a text", None,
        ANSWER.index_fill(0, torch.tensor([1]), 0.0),
    ],
)  # fmt: skip
def test_another_answer_is_not(other):
    assert not sketch_tensor(ANSWER).matches(other, ATOL, RTOL)


def test_one_entry_of_a_mask_makes_a_difference():
    mask = torch.ones(6, 6).tril().bool()
    for place in range(mask.numel()):
        other = mask.flatten().clone()
        other[place] = ~other[place]
        assert not sketch_tensor(mask).matches(other.view(6, 6), ATOL, RTOL)


def test_only_large_answers_are_sketched():
    case, small = Case("a", "a case", "", {}, {}), ANSWER[0]
    assert shorten(small, None, case) is small
    assert shorten("a text", None, case) == "a text"
    assert shorten(ANSWER, -ANSWER, case).shape == (3, 4, 5)


def test_an_answer_just_outside_a_wide_tolerance_is_not_the_expected_one():
    case = Case("a", "a case", "", {}, {}, atol=4e-3, rtol=0.0)
    answer = ANSWER.clone()
    answer[0, 0, 0] += 6e-3
    assert shorten(ANSWER + 1e-4, ANSWER, case) is ANSWER
    assert shorten(answer, ANSWER, case) is not ANSWER
