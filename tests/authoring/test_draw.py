"""Drawings are the same everywhere, and others with every seed."""

import torch

from autograder.authoring.draw import FINENESS, Draw


def test_drawings_are_reproducible_and_differ_by_seed():
    first, again, other = (Draw(seed).tensor(3, 4) for seed in "aab")
    assert first.equal(again) and not first.equal(other)


def test_numbers_are_multiples_of_a_small_step_of_either_sign():
    drawn = Draw("a").tensor(50, 4, scale=1.5)
    assert (drawn * FINENESS).frac().abs().sum() == 0
    assert drawn.min() < 0 < drawn.max() and drawn.abs().max() <= 1.5


def test_weights_are_inputs_by_the_names_of_parameters():
    drawn = Draw("a").weights(**{"w_q.weight": (6, 5), "w_q.bias": (6,)})
    shapes = {name: tuple(value.shape) for name, value in drawn.items()}
    assert shapes == {"weights.w_q.weight": (6, 5), "weights.w_q.bias": (6,)}


def test_half_precision_cannot_hold_the_numbers():
    drawn = Draw("a").tensor(50, 4)
    for dtype in (torch.float16, torch.bfloat16):
        assert (drawn.to(dtype).float() != drawn).float().mean() > 0.7
