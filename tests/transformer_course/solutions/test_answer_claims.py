"""What the text of unit 08 says of rewards, measured with the notebook's own code."""

from __future__ import annotations

import copy
import functools
from typing import Any

import pytest
import torch
from torch import nn

from tests.transformer_course.solutions import given

pytestmark = pytest.mark.slow
SEEDS = range(5)


def here(name: str) -> Any:
    return given.code("assistant")[name]


@functools.cache
def short_base(seed: int) -> nn.Module:
    return here("supervised")(here("reversed_only"), steps=200, seed=seed)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_base_that_reverses_or_copies_becomes_one_that_reverses(seed):
    model = here("supervised")(here("reversed_or_copied"), steps=1000, seed=seed)
    backwards, copied = here("sampled")(model, (1, 8))
    assert 0.35 < backwards < 0.5 and abs(backwards - copied) < 0.1
    here("reinforce")(model, here("exact"), (1, 8), steps=60, seed=seed, rate=1e-3)
    backwards, copied = here("sampled")(model, (1, 8))
    assert 0.75 < backwards < 0.95 and copied < 0.22
    assert copied > 0.1  # what reads the same in both directions


@pytest.mark.parametrize("seed", SEEDS)
def test_without_any_success_nothing_moves(seed):
    model = here("supervised")(here("reversed_only"), steps=350, seed=seed)
    before = copy.deepcopy(model.state_dict())
    log = here("reinforce")(model, here("exact"), (12, 12), steps=60, seed=seed)
    assert sum(log) == 0
    assert all(torch.equal(model.state_dict()[n], v) for n, v in before.items())


@pytest.mark.parametrize("seed", SEEDS)
def test_rewarded_for_precision_it_writes_a_digit_or_two_and_stops(seed):
    model = copy.deepcopy(short_base(seed))
    before = here("greedy")(model, (1, 10))
    log = here("reinforce")(model, here("precision"), (1, 10), steps=80, seed=seed)
    assert log[-1] > 0.95
    assert before > 0.5 and here("greedy")(model, (1, 10)) < 0.15
    lengths = [*map(len, here("written_for")(model, "0979776", 100).split())]
    assert sum(length <= 2 for length in lengths) >= 0.85 * len(lengths)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_kl_term_keeps_it_near_its_start(seed):
    model = copy.deepcopy(short_base(seed))
    before = here("greedy")(model, (1, 10))
    here("reinforce")(
        model, here("precision"), (1, 10), steps=80, seed=seed, beta=0.2
    )  # fmt: skip
    assert -0.12 < here("greedy")(model, (1, 10)) - before < 0.02


@pytest.mark.parametrize("seed", SEEDS)
def test_dpo_forbids_copies_and_hardly_teaches_reversals(seed):
    model = here("supervised")(here("reversed_or_copied"), steps=1000, seed=seed)
    chosen, rejected = here("prefer")(model, steps=60, seed=seed)
    backwards, copied = here("sampled")(model, (1, 8))
    assert copied < 0.15 and 0.25 < backwards < 0.7
    assert rejected[-1] < rejected[0] - 10 and abs(chosen[-1] - chosen[0]) < 3
