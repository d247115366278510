"""Compare tensors and findings, to recognise the symptoms of wrong answers."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from autograder.checks.exercise import CaseResult, Finding
from autograder.checks.language import translate
from autograder.checks.values import differing, same_tensors

MANY = 4  # this many entries cannot be chance
Pairs = list[tuple[torch.Tensor, torch.Tensor]]  # expected, and the student's


def compose_sign(
    findings: Sequence[Finding], message: str, asks: str, **fields: object
) -> tuple[str, str]:
    """Return a symptom: a message with its fields filled in, and a question on it.

    The field ``name`` becomes the name of the first finding's answer.
    """
    return message.format(name=translate(findings[0].name), **fields), asks


def tensor_pairs(findings: Sequence[Finding]) -> Pairs:
    """The expected and the actual value of each finding; [] unless all are tensors."""
    pairs = [finding.tensors for finding in findings]
    return [pair for pair in pairs if pair] if all(pairs) else []


def is_gradient(finding: Finding) -> bool:
    """Whether a finding is about a gradient, not about a result."""
    return finding.name.startswith("gradient of ")


def agree(a: object, b: object) -> bool:
    """Whether two values are tensors that agree within the usual tolerances."""
    return same_tensors(a, b, 1e-5, 1e-4)


def close(a: torch.Tensor, b: torch.Tensor, share: float) -> bool:
    """Return whether tensors differ by at most ``share`` times the largest ``abs(a)``.

    Real parts are compared. If ``a`` is empty, the answer is False.
    """
    a, b = a.real.double(), b.real.double()  # `real`: complex numbers would warn
    return bool((a - b).abs().max() <= share * a.abs().max()) if a.numel() else False


def holds_the_same(a: torch.Tensor, b: torch.Tensor) -> bool:
    """Whether two tensors hold the same floats, at least `MANY`, in any order."""
    return (
        a.dtype == b.dtype
        and a.is_floating_point()
        and a.numel() == b.numel() >= MANY
        and agree(a.flatten().sort().values, b.flatten().sort().values)
    )


def which_input(result: CaseResult, finding: Finding) -> str:
    """The name of the input that an answer returns unchanged; "" if it returns none."""
    actual = finding.actual
    if not isinstance(actual, torch.Tensor):
        return ""
    for name, value in result.case.inputs.items():
        if not isinstance(value, torch.Tensor) or not value.dim():
            continue
        # `equal` compares values only: a copy of another dtype is not the input itself.
        if value.dtype == actual.dtype and torch.equal(value, actual):
            return name
    return ""


def value_pairs(findings: Sequence[Finding]) -> Pairs:
    """Return the expected and the actual tensors if only their values differ; else [].

    Each pair must differ by more than rounding, and must not be complex.
    """
    if any(f.problem != "values" for f in findings):
        return []
    pairs = tensor_pairs(findings)
    usable = all(
        not a.is_complex() and bool(wrong_entries(a, b).any()) for a, b in pairs
    )
    return pairs if usable else []


def wrong_entries(expected: torch.Tensor, actual: torch.Tensor) -> torch.Tensor:
    """Which entries differ by more than rounding, as a mask."""
    return differing(expected, actual, 1e-5, 1e-4)
