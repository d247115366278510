"""The other side of a probe answers, or says why not."""

from __future__ import annotations

import random

import pytest
import torch

from autograder.checks.exercise import WrongAnswerError
from autograder.checks.interactor import Interactor, make_ask, reply, require_tensor


def test_an_other_side_that_is_not_asked_for_anything_says_so():
    side = Interactor({}, random.Random(0))
    with pytest.raises(WrongAnswerError, match="nobody to ask"):
        make_ask(lambda question: reply(side, question))({"x": torch.zeros(1)})


def test_given_takes_what_can_be_worked_with_only():
    fits = {"x": torch.zeros(2, 3)}
    assert require_tensor(fits, "x", 2, [torch.float32], 6) is fits["x"]
    real, whole = torch.float32, torch.int64
    for dim, dtype, most in ((1, real, 6), (2, whole, 6), (2, real, 5)):
        with pytest.raises(WrongAnswerError):
            require_tensor(fits, "x", dim, [dtype], most)


def test_an_empty_tensor_is_as_large_as_its_other_sides():
    for shape in ((0, 7), (7, 0)):
        with pytest.raises(WrongAnswerError, match="cannot have the shape"):
            require_tensor({"x": torch.zeros(shape)}, "x", 2, [torch.float32], 6)
    empty = {"x": torch.zeros(0, 6)}
    assert require_tensor(empty, "x", 2, [torch.float32], 6) is empty["x"]
