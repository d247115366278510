"""Recognise numbers that were rounded to half precision or limited to a range."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from autograder.checks.diagnostics.alike import (
    MANY,
    close,
    compose_sign,
    value_pairs,
    wrong_entries,
)
from autograder.checks.diagnostics.values import Sign
from autograder.checks.exercise import Finding
from autograder.checks.language import _

_HALF_ERROR = 0.05  # of the largest number: what half precision may add up to


def rounded(findings: Sequence[Finding]) -> Sign:
    """Recognise nearly right numbers that have only the digits of half precision."""
    pairs = [(a, b) for a, b in value_pairs(findings) if a.dtype == torch.float32]
    if len(pairs) < len(findings) or sum(a.numel() for a, _b in pairs) < MANY:
        return None
    if not all(close(a, b, _HALF_ERROR) for a, b in pairs):
        return None
    for dtype in (torch.bfloat16, torch.float16):
        if all(
            torch.equal(b, b.to(dtype).float())
            and not torch.equal(a, a.to(dtype).float())
            for a, b in pairs
        ):
            message = _('"{name}" has only the precision of {dtype}.')
            asks = _("Which step converts to this dtype, and does the task ask for it?")
            name = str(dtype).removeprefix("torch.")
            return compose_sign(findings, message, asks, dtype=name)
    return None


def cut_off(findings: Sequence[Finding]) -> Sign:
    """Recognise numbers clipped to a range that the right numbers exceed."""
    pairs = [
        (a, b) for a, b in value_pairs(findings) if a.is_floating_point() and a.dim()
    ]
    if len(pairs) < len(findings) or not pairs:
        return None
    limits, count_wrong = set[float](), 0
    for a, b in pairs:
        wrong, low, high = wrong_entries(a, b), b.min(), b.max()
        is_limited = (b == high) & (a > high) | (b == low) & (a < low)
        is_inside = ~wrong & (b > low) & (b < high)
        if not is_limited[wrong].all() or not is_inside.any():
            return None
        limits.update(b[wrong].tolist())
        count_wrong += int(wrong.sum())
    if len(limits) > 2 or count_wrong < MANY:
        return None
    message = _('"{name}" is cut off at {limits}, but the right numbers go beyond.')
    asks = _("Which step limits them, and does the task ask for that?")
    texts = _(" and ").join(f"{limit:.4g}" for limit in sorted(limits))
    return compose_sign(findings, message, asks, limits=texts)
