"""Whether tensors agree."""

from __future__ import annotations

import math

import torch


def same_values(
    expected: torch.Tensor, actual: torch.Tensor, atol: float, rtol: float
) -> bool:
    """Whether tensors of equal shape agree; NaN agrees with NaN, for mistakes' sake."""
    alike = expected.dtype == actual.dtype
    if alike and torch.equal(expected, actual):
        return True  # as most that is no number of float32 is, at a small price
    if alike and expected.dtype in (torch.float32, torch.float64):
        # In one operation, nearly always enough: the largest gap, which is rounded by
        # far less than a hundredth; no number where one of the tensors holds none.
        gap = torch.dist(expected, actual, math.inf).item()
        if gap <= 0.99 * atol:
            return True
        if gap > 1.01 * (atol + rtol * expected.abs().amax().item()):
            return False
    return not differing(expected, actual, atol, rtol).any()


def differing(
    expected: torch.Tensor, actual: torch.Tensor, atol: float, rtol: float
) -> torch.Tensor:
    """Boolean tensor: where two tensors of equal shape disagree; integers exactly."""
    if not expected.is_floating_point():
        return expected != actual
    a, b = actual.to(torch.float64), expected.to(torch.float64)
    return ~torch.isclose(a, b, atol=atol, rtol=rtol, equal_nan=True)
