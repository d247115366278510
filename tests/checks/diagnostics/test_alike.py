"""Whether tensors agree, as far as a sign asks for it."""

from dataclasses import replace

import torch

from autograder.checks.compare import compare
from autograder.checks.diagnostics.alike import agree, close, which_input
from autograder.checks.exercise import Case


def test_the_same_has_its_shape_its_dtype_and_its_values():
    a = torch.tensor([1.0, -2.0])
    assert agree(a, a + 1e-6) and not agree(a, a + 1e-3)
    assert not agree(a, a[None]) and not agree(a, a.double()) and not agree(a, "a")


def test_an_input_in_another_dtype_is_not_returned_unchanged():
    x = torch.arange(6.0)
    result = compare(Case("a", "t", "", {"x": x}, {"result": x + 1}), {"result": x})
    finding = replace(result.findings[0], actual=x.double())
    assert which_input(result, result.findings[0]) == "x"
    assert not which_input(result, finding)


def test_close_is_measured_by_the_largest_number():
    a = torch.tensor([100.0, 0.0])
    assert close(a, a + 0.9, 1e-2) and not close(a, a + 1.1, 1e-2)
    assert not close(a[:0], a[:0], 1.0)
