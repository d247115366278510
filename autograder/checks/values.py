"""Whether values agree."""

from __future__ import annotations

import math
import re

import numpy as np
import torch

from autograder.checks.exercise import Case, Value
from autograder.checks.sketches import Sketch


def same_answer(
    predicted: Value | Sketch | None, actual: Value | Sketch | None, case: Case
) -> bool:
    """Whether a mistake's answer to a case, and one that was given, are the same."""
    if isinstance(predicted, Sketch):
        return predicted.matches(actual, case.atol, case.rtol)
    if isinstance(predicted, str) and isinstance(actual, str):
        return _wording(predicted) == _wording(actual)
    if isinstance(predicted, torch.Tensor) and isinstance(actual, torch.Tensor):
        return same_tensors(predicted, actual, case.atol, case.rtol)
    return predicted == actual


def telling_part(error: str) -> str:
    """The first line of an error, or its type alone if a `raise` of the code made it.

    The other lines point into that code; and whoever raises an error may say what they
    like, in any language.
    """
    first = error.split("\n")[0]
    return first.partition(":")[0] if is_raised_by_code(error) else first


def is_raised_by_code(error: str) -> bool:
    """Whether a `raise` or an `assert` of the student's code made an error.

    The last line of an error is the innermost one of that code.
    """
    _, _, line = error.rpartition("\n")
    return line != error and bool(re.search(r": (raise|assert)\b", line))


def _wording(text: str) -> str:
    """What is compared of an error, as it reads in any version of PyTorch.

    From 2.15 on, an operator may come before
    the message ("mm: mat1 and mat2 ..."); several errors for types that an operator has
    not been written for are a RuntimeError in one version, and in another its subclass
    NotImplementedError.
    """
    line = _OPERATOR.sub(r"\1", telling_part(text))
    return re.sub("^NotImplementedError: ", "RuntimeError: ", line)


_OPERATOR = re.compile(r"^((?:Runtime|NotImplemented)Error: )[a-z_]+: ")


def same_tensors(a: object, b: object, atol: float, rtol: float) -> bool:
    """Whether two values are tensors of one shape and dtype that agree."""
    return (
        isinstance(a, torch.Tensor)
        and isinstance(b, torch.Tensor)
        and a.shape == b.shape
        and a.dtype == b.dtype
        and same_values(a, b, atol, rtol)
    )


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


def same_but_dtype(expected: object, actual: object, case: Case) -> bool:
    """Whether numbers of another dtype agree: integers exactly, others in its digits.

    Half precision may be off by eight of its steps.
    """
    if not isinstance(expected, torch.Tensor) or not isinstance(actual, torch.Tensor):
        return False
    if expected.shape != actual.shape or expected.is_complex() or actual.is_complex():
        return False
    a, b = expected.to(torch.float64), actual.to(torch.float64)
    if not expected.is_floating_point():
        return torch.equal(a, b)
    steps = 8 * torch.finfo(actual.dtype).eps if actual.is_floating_point() else 0.0
    return same_values(a, b, max(case.atol, steps), max(case.rtol, steps))


def differing(
    expected: torch.Tensor, actual: torch.Tensor, atol: float, rtol: float
) -> torch.Tensor:
    """Boolean tensor: where two tensors of equal shape disagree; integers exactly."""
    if not expected.is_floating_point():
        return expected != actual
    a, b = actual.to(torch.float64), expected.to(torch.float64)
    return ~torch.isclose(a, b, atol=atol, rtol=rtol, equal_nan=True)


def worst(
    expected: torch.Tensor, actual: torch.Tensor, wrong: torch.Tensor
) -> tuple[int, ...]:
    """The index of the largest difference where ``wrong``, the first of equal ones.

    One that is no number is larger than any.
    """
    gap = (actual.to(torch.float64) - expected.to(torch.float64)).abs()
    gap = gap.nan_to_num(math.inf, math.inf).where(wrong, -1.0)
    # NumPy's, since PyTorch's imports half a second of symbolic algebra.
    return tuple(map(int, np.unravel_index(int(gap.argmax()), gap.shape)))
