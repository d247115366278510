"""Drawings are the same everywhere, and others with every seed."""

import torch

from autograder.authoring.draw import FINENESS, Draw


def test_drawings_are_reproducible_and_differ_by_seed():
    first, repeated, different = (Draw(seed).tensor(3, 4) for seed in "aab")
    assert first.equal(repeated) and not first.equal(different)


def test_numbers_are_multiples_of_a_small_step_of_either_sign():
    tensor = Draw("a").tensor(50, 4, scale=1.5)
    assert (tensor * FINENESS).frac().abs().sum() == 0
    assert tensor.min() < 0 < tensor.max() and tensor.abs().max() <= 1.5


def test_weights_are_inputs_by_the_names_of_parameters():
    weights = Draw("a").weights(**{"w_q.weight": (6, 5), "w_q.bias": (6,)})
    shapes = {name: tuple(value.shape) for name, value in weights.items()}
    assert shapes == {"weights.w_q.weight": (6, 5), "weights.w_q.bias": (6,)}


def test_half_precision_cannot_hold_the_numbers():
    tensor = Draw("a").tensor(50, 4)
    for dtype in (torch.float16, torch.bfloat16):
        assert (tensor.to(dtype).float() != tensor).float().mean() > 0.7
