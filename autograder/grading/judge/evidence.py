"""What was asked in a check and what came back, as texts: the evidence for a verdict.

Tensors stay in the judge. What leaves it is text of a limited length, which a page can
show as it is.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch

from autograder.checks.exercise import RAISED, CaseResult, Finding, Other, Value
from autograder.checks.forms import dtype_of
from autograder.course.printable import printable
from autograder.grading.judge.verdict import CaseEvidence, ResultComparison

_LONGEST = 1500  # letters of a value
_NUMBERS = 64  # of a tensor, before the middle is left out


def evidence_of(results: Sequence[CaseResult]) -> tuple[CaseEvidence, ...]:
    """The evidence of the results of a check, in their order."""
    return tuple(map(_case_evidence, results))


def _case_evidence(result: CaseResult) -> CaseEvidence:
    case = result.case
    inputs = {name: as_text(value) for name, value in case.inputs.items()}
    comparisons = tuple(map(_comparison, result.findings))
    return CaseEvidence(
        case.title, case.aspect, case.hidden, result.credit, inputs, comparisons
    )


def _comparison(finding: Finding) -> ResultComparison:
    answer = as_text(finding.actual)
    if finding.problem == RAISED:
        answer = "an error"
    message = _clip(finding.message) if finding.problem else ""
    return ResultComparison(
        printable(finding.name), as_text(finding.expected), answer, message
    )


def as_text(value: Value | None) -> str:
    """A tensor as its type, its shape and its numbers; a text as it is."""
    if value is None:
        return ""
    if isinstance(value, Other):
        return printable(f"of type {value.kind}")
    if not isinstance(value, torch.Tensor):
        return _clip(value)
    kind = dtype_of(value)
    plain = value.float() if value.dtype == torch.bfloat16 else value
    numbers = np.array2string(
        plain.numpy(), precision=6, threshold=_NUMBERS, edgeitems=2, max_line_width=88
    )
    return _clip(f"{kind}, shape {tuple(value.shape)}\n{numbers}")


def _clip(text: str) -> str:
    clipped = text if len(text) <= _LONGEST else f"{text[:_LONGEST]} ..."
    return "\n".join(map(printable, clipped.splitlines()))
