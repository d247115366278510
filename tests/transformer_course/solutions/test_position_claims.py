"""What the text of unit 10 says of positions, measured with the notebook's own code."""

from __future__ import annotations

import functools

import pytest
import torch

from tests.transformer_course.solutions import given

UNIT = given.code("newer")
SEEDS = pytest.mark.parametrize("seed", range(3))
TWO_SEEDS = pytest.mark.parametrize("seed", range(2))  # of the notebook's five
KINDS = ("none", "learned", "sinusoidal", "rotary")


@functools.cache
def losses(positions: str, steps: int, seed: int) -> list[float]:
    """On fresh text, at each of the notebook's lengths."""
    torch.manual_seed(seed)
    model = UNIT["with_parts"](positions=positions)
    UNIT["train_for"](model, steps, seed)
    return [UNIT["loss_on_fresh_text"](model, length) for length in UNIT["LENGTHS"]]


def rise(positions: str, steps: int, seed: int) -> float:
    """From the length of training to four times as much."""
    first, *_, last = losses(positions, steps, seed)
    return last - first


@pytest.mark.slow
@pytest.mark.long(seconds=20)
@SEEDS
def test_after_300_steps_rotary_positions_are_best_at_each_length(seed):
    none, learned, sines, rotary = (losses(kind, 300, seed) for kind in KINDS)
    assert 0.2 < learned[0] - rotary[0] < 0.45
    assert 0.4 < sines[0] - rotary[0] < 0.55
    for others in (none, learned, sines):
        assert all(a < b for a, b in zip(rotary, others, strict=True))
    assert rise("rotary", 300, seed) < 0.2 < rise("learned", 300, seed)
    assert all(abs(a - b) < 0.1 for a, b in zip(sines, none, strict=True))


@pytest.mark.slow
@pytest.mark.long(seconds=200)
@TWO_SEEDS
def test_after_3000_steps_rotary_leads_by_less_and_longer_texts_cost_more(seed):
    _, learned, sines, rotary = (losses(kind, 3000, seed)[0] for kind in KINDS)
    assert learned - rotary < 0.1 < sines - rotary < 0.25
    assert all(rise(kind, 3000, seed) > rise(kind, 300, seed) for kind in KINDS)
    none, learned, sines, rotary = (rise(kind, 3000, seed) for kind in KINDS)
    assert none < rotary < 1.4 < 2 < min(learned, sines)
    ends = [losses(kind, 3000, seed)[-1] for kind in ("none", "rotary")]
    assert abs(ends[0] - ends[1]) < 0.5
