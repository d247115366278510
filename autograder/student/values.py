"""Whether tensors agree."""

from __future__ import annotations

import torch


def same_values(
    expected: torch.Tensor, actual: torch.Tensor, atol: float, rtol: float
) -> bool:
    """Whether tensors of equal shape agree; NaN agrees with NaN, for mistakes' sake."""
    if expected.dtype == actual.dtype and torch.equal(expected, actual):
        return True  # as most that is no number of float32 is, at a small price
    if expected.is_floating_point() and expected.numel():
        gap = (actual.to(torch.float64) - expected.to(torch.float64)).abs().amax()
        if gap <= atol:  # as nearly always; not where something is no number
            return True
    return not differing(expected, actual, atol, rtol).any()


def differing(
    expected: torch.Tensor, actual: torch.Tensor, atol: float, rtol: float
) -> torch.Tensor:
    """Boolean tensor: where two tensors of equal shape disagree; integers exactly."""
    if not expected.is_floating_point():
        return expected != actual
    a, b = actual.to(torch.float64), expected.to(torch.float64)
    return ~torch.isclose(a, b, atol=atol, rtol=rtol, equal_nan=True)
