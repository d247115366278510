"""Whether tensors agree, as far as a sign asks for it."""

import torch

from autograder.checks.diagnostics.alike import agree, close


def test_the_same_has_its_shape_its_dtype_and_its_values():
    a = torch.tensor([1.0, -2.0])
    assert agree(a, a + 1e-6) and not agree(a, a + 1e-3)
    assert not agree(a, a[None]) and not agree(a, a.double()) and not agree(a, "a")


def test_close_is_measured_by_the_largest_number():
    a = torch.tensor([100.0, 0.0])
    assert close(a, a + 0.9, 1e-2) and not close(a, a + 1.1, 1e-2)
    assert not close(a[:0], a[:0], 1.0)
