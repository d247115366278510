"""Right answers that draw with other dice are not refused by chance."""

import math

import pytest
import torch

from autograder.bank import specification
from autograder.oracle.cases import fresh_cases
from autograder.oracle.variants import build_object
from autograder.student import references
from autograder.student.probes.since_2017.observing import options

OFTEN = "how often each token is drawn"


@pytest.fixture(scope="module")
def fresh():
    return fresh_cases(specification("since_2017/generate"), "chance")


def test_frequencies_of_two_right_answers_agree(fresh):
    shown = references.load("since_2017")["since_2017/generate"].cases
    refused = 0.0  # by Hoeffding's inequality, for two means of so many rows
    for case in (*shown, *fresh):
        rows = next(v for n, v in case.inputs.items() if n.endswith("rows"))
        each = 2 * math.exp(-int(rows) * case.atol**2)
        refused += each * sum(
            v.numel() for n, v in case.expected.items() if n.startswith(OFTEN)
        )
    assert 0 < refused < 1e-7


def test_other_dice_give_other_texts(fresh):
    chances_of = build_object(specification("since_2017/next_distribution"))
    own = [c for c in fresh if not c.says and c.name != "one_token"]
    assert len(own) == 5
    for case in own:
        prompt, table = case.inputs["prompt"], case.inputs["table"]
        chances = chances_of(table[prompt[:, -1]], prompt, **options(case.inputs))
        assert torch.linalg.vector_norm(chances) ** 2 < 0.9, case.name
