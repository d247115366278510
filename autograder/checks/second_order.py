"""Recognise answers in which two known mistakes are combined.

The build runs pairs of mistakes together (second-order mutants: Jia and Harman
2008, "Constructing subtle faults using higher order mutation testing"). For
each pair, a case stores only two numbers: weighted sums over its answers.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import torch

from autograder.checks.exercise import RAISED, Answers, Case, CaseResult, Value
from autograder.checks.sketches import digest, sum_entries

# The keys of `Case.doubles`: indices of two of the exercise's mistakes, (n, 2), and the
# sketches of their answers, (n, 2); NaN where both together raise an error.
WHICH, SKETCH = "which", "sketch"
_CLOSE = 1e-4  # far above rounding, far below what two different answers come to


def sketch(answers: Answers, names: Iterable[str]) -> torch.Tensor:
    """Reduce the answers to a case to two numbers, ``(2,)``, float32; NaN for errors.

    Answers count as equal if their sketches are close. The order of names matters.
    """
    if RAISED in answers:
        return torch.full((2,), torch.nan)
    parts = [
        _sketch_value(answers.get(name)) * math.sqrt(place)
        for place, name in enumerate(names, start=1)
    ]
    return sum(parts, torch.zeros(2, dtype=torch.float64)).float()


def _sketch_value(value: Value | None) -> torch.Tensor:
    """Two numbers for a value, which depend on its dtype and shape as well."""
    if not isinstance(value, torch.Tensor):
        return digest(str(value))
    form = digest(f"{value.dtype} {tuple(value.shape)}")
    return sum_entries(value, 2) + form


def pairs_that_fit(results: Sequence[CaseResult]) -> list[tuple[int, int]]:
    """The pairs of mistakes, by index, that give the answers of all these cases.

    Cases without sketches are ignored. If no wrong case has any, no pair is returned.
    """
    sketched = [result for result in results if WHICH in result.case.doubles]
    if all(result.passed for result in sketched):
        return []
    fitting = torch.stack([_match_rows(result) for result in sketched]).all(dim=0)
    pairs = sketched[0].case.doubles[WHICH]
    assert isinstance(pairs, torch.Tensor)
    return sorted({(a, b) for a, b in pairs[fitting].tolist()})


def _match_rows(result: CaseResult) -> torch.Tensor:
    """Say for each pair of mutants whether it gives the student's answers: (n,)."""
    sketches = result.case.doubles[SKETCH]
    assert isinstance(sketches, torch.Tensor)
    actual = sketch(result.answers, result.case.expected)
    return are_close(sketches, actual, result.case)


def are_close(
    first: torch.Tensor, second: torch.Tensor, case: Case, *, equal_nan: bool = False
) -> torch.Tensor:
    """Return whether two sketches, ``(..., 2)``, describe equal answers to a case.

    With ``equal_nan``, all errors count as equal.
    """
    atol = _CLOSE * _rounding_scale(case)
    close = torch.isclose(first, second, rtol=_CLOSE, atol=atol, equal_nan=equal_nan)
    return close.all(dim=-1)


def _rounding_scale(case: Case) -> float:
    """Return the root of the number of entries that are summed in a case's sketches.

    The rounding errors of a sketch grow in proportion to it.
    """
    tensors = [v for v in case.expected.values() if isinstance(v, torch.Tensor)]
    return math.sqrt(sum(value.numel() for value in tensors) + 1)
