"""A share that somebody else has counted is taken as a number, or not at all."""

from __future__ import annotations

import pytest
import torch

from autograder.checks.exercise import Other
from autograder.checks.measures import measure_answers


def test_the_share_is_the_value():
    assert measure_answers("exact_match", {}, {"share": torch.tensor(0.75)}) == (
        0.75,
        "",
    )


@pytest.mark.parametrize(
    "answers", [{}, {"share": "1"}, {"share": Other("float")}, {"share": torch.ones(2)}]
)
def test_what_is_no_number_is_worth_nothing(answers):
    assert measure_answers("exact_match", {}, answers) == (0.0, "")
