"""Compare values: answers with references or with those of mistakes."""

from __future__ import annotations

import math
import re

import numpy as np
import torch

from autograder.checks.exercise import RAISED, Case, CaseResult, Finding, Value
from autograder.checks.sketches import Sketch


def same_answer(
    predicted: Value | Sketch | None, actual: Value | Sketch | None, case: Case
) -> bool:
    """Whether the answer given to a case is the one that a mistake predicts."""
    if isinstance(predicted, Sketch):
        return predicted.matches(actual, case.atol, case.rtol)
    if isinstance(predicted, str) and isinstance(actual, str):
        return _wording(predicted) == _wording(actual)
    if isinstance(predicted, torch.Tensor) and isinstance(actual, torch.Tensor):
        return same_tensors(predicted, actual, case.atol, case.rtol)
    return predicted == actual


def is_predicted(result: CaseResult, finding: Finding, variant: str) -> bool:
    """Whether a mistake's variant gives the answer, or the error, of this finding."""
    key = RAISED if finding.problem == RAISED else finding.name
    predicted = result.case.mistakes.get(variant, {}).get(key)
    return same_answer(predicted, result.answers.get(key), result.case)


def telling_part(error: str) -> str:
    """Return the part of an error's description by which two errors are compared.

    It is the first line. Of an error that the student's code raises itself, it is
    only the type, since the message may have any wording.
    """
    first = error.split("\n")[0]
    return first.partition(":")[0] if is_raised_by_code(error) else first


def is_raised_by_code(error: str) -> bool:
    """Whether an error comes from a `raise` or an `assert` in the student's code.

    The last line of an error's description is the innermost line of that code.
    """
    _, _, line = error.rpartition("\n")
    statement = re.search(r": (raise|assert)\b", line)
    if statement is None or line == error:
        return False
    # A condition may fail to compute, with a different error: that is not a refusal.
    return statement[1] == "raise" or bool(re.match(r"AssertionError\b", error))


def _wording(text: str) -> str:
    """Return the part of an error to compare, the same in all versions of PyTorch."""
    line = _OPERATOR.sub(r"\1", telling_part(text))
    return re.sub("^NotImplementedError: ", "RuntimeError: ", line)


_OPERATOR = re.compile(r"^((?:Runtime|NotImplemented)Error: )[a-z_]+: ")


def same_tensors(a: object, b: object, atol: float, rtol: float) -> bool:
    """Whether two values are tensors of one shape and dtype, equal within tolerance."""
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
    """Return whether tensors of equal shape agree within tolerance.

    NaN equals NaN, because the stored answers of a mistake may contain it.
    """
    alike = expected.dtype == actual.dtype
    if alike and torch.equal(expected, actual):
        return True  # quickly decided, and true of most tensors that are not floats
    if alike and expected.dtype in (torch.float32, torch.float64):
        # The largest gap takes one operation and nearly always decides. It is rounded
        # by far less than a hundredth, and may be NaN if a tensor is not finite.
        gap = torch.dist(expected, actual, math.inf).item()
        if gap <= 0.99 * atol:
            return True
        if gap > 1.01 * (atol + rtol * expected.abs().amax().item()):
            return False
    return not differing(expected, actual, atol, rtol).any()


def same_but_dtype(expected: object, actual: object, case: Case) -> bool:
    """Return whether an answer equals the expected tensor, apart from its dtype.

    Floats may also be off by rounding in the answer's dtype.
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
    """Return a boolean mask of the entries in which tensors of equal shape differ.

    The tolerances apply to floats only, and NaN equals NaN.
    """
    if not expected.is_floating_point():
        return expected != actual
    a, b = actual.to(torch.float64), expected.to(torch.float64)
    return ~torch.isclose(a, b, atol=atol, rtol=rtol, equal_nan=True)


def worst(
    expected: torch.Tensor, actual: torch.Tensor, wrong: torch.Tensor
) -> tuple[int, ...]:
    """Return the index of the largest difference among entries that ``wrong`` marks.

    A difference of NaN counts as infinite. Of equal differences, the first one counts.
    """
    gap = (actual.to(torch.float64) - expected.to(torch.float64)).abs()
    gap = gap.nan_to_num(math.inf, math.inf).where(wrong, -1.0)
    # NumPy's function, since PyTorch's imports SymPy, which takes half a second.
    return tuple(map(int, np.unravel_index(int(gap.argmax()), gap.shape)))
