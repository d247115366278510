"""Compare tensors and findings, for the signs that this package recognises."""

from __future__ import annotations

import torch

from autograder.checks.exercise import CaseResult, Finding
from autograder.checks.values import same_tensors


def holds_booleans(value: object) -> bool:
    """Whether a value is a boolean tensor."""
    return isinstance(value, torch.Tensor) and value.dtype == torch.bool


def is_yes_or_no(value: object) -> bool:
    """Whether a value is no more than a yes or no: at most two booleans, or a text."""
    if isinstance(value, torch.Tensor):
        return value.dtype == torch.bool and value.numel() < 3
    return value in ("True", "False")


def is_gradient(finding: Finding) -> bool:
    """Whether a finding is of a gradient, not of a result."""
    return finding.name.startswith("gradient of ")


def are_tensors(finding: Finding) -> bool:
    """Whether both values of a finding are tensors."""
    return isinstance(finding.expected, torch.Tensor) and isinstance(
        finding.actual, torch.Tensor
    )


def agree(a: object, b: object) -> bool:
    """Whether two values are tensors that agree within the usual tolerances."""
    return same_tensors(a, b, 1e-5, 1e-4)


def close(a: torch.Tensor, b: torch.Tensor, share: float) -> bool:
    """Whether numbers differ by at most a share of the largest one."""
    a, b = a.real.double(), b.real.double()  # `real`: complex numbers would warn
    return bool((a - b).abs().max() <= share * a.abs().max()) if a.numel() else False


def in_order(value: torch.Tensor) -> torch.Tensor:
    """All entries of a tensor, the smallest first."""
    return value.flatten().sort().values


def holds_the_same(a: torch.Tensor, b: torch.Tensor) -> bool:
    """Whether tensors hold the same floats in any order, too many to be chance."""
    return (
        a.dtype == b.dtype
        and a.is_floating_point()
        and a.numel() == b.numel() > 3
        and agree(in_order(a), in_order(b))
    )


def which_input(result: CaseResult, finding: Finding) -> str:
    """The name of the input that was returned unchanged; "" if none was."""
    actual = finding.actual
    for name, value in result.case.inputs.items():
        if (
            isinstance(value, torch.Tensor)
            and isinstance(actual, torch.Tensor)
            and value.dim() > 0
            and torch.equal(value, actual)
        ):
            return name
    return ""
