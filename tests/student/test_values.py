"""Tensors agree within tolerances; whole numbers and booleans exactly."""

import torch

from autograder.student.values import differing, same_values


def test_numbers_agree_within_tolerances_and_nan_with_nan():
    a = torch.tensor([1.0, float("nan"), -2.0])
    assert same_values(a, a + 1e-6, 1e-5, 0.0)
    assert differing(a, a + 1e-3, 1e-5, 0.0).tolist() == [True, False, True]


def test_whole_numbers_agree_exactly():
    a = torch.tensor([1, 2])
    assert same_values(a, a.clone(), 1.0, 1.0) and not same_values(a, a + 1, 1.0, 1.0)
