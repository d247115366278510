"""The evidence for a verdict: the inputs and answers of a check, as text.

Tensors stay in the judge. The texts that leave it have a limited length and contain
only printable characters, so that a page can show them as they are.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

import numpy as np
import torch

from autograder.checks.exercise import RAISED, CaseResult, Finding, Other, Value
from autograder.checks.forms import dtype_of
from autograder.checks.properties import KEY
from autograder.course.printable import printable
from autograder.grading.judge.verdict import CaseEvidence, ResultComparison

_MAX_CHARACTERS = 1500  # characters of a value
_ENTRIES = 64  # entries of a tensor; of a larger one, the middle is left out


def evidence_of(results: Sequence[CaseResult]) -> tuple[CaseEvidence, ...]:
    """The evidence of the results of a check, in their order."""
    return tuple(map(_case_evidence, results))


def _case_evidence(result: CaseResult) -> CaseEvidence:
    """Describe the random inputs of a case, and how the answers to them compare."""
    case = result.case
    inputs = _describe_inputs(case.inputs)
    comparisons = tuple(map(_comparison, result.findings))
    return CaseEvidence(
        case.title, case.aspect, case.hidden, result.credit, inputs, comparisons
    )


def _describe_inputs(inputs: Mapping[str, Value]) -> dict[str, str]:
    """Describe inputs as texts; those of several calls by what each call is for.

    Example: "0/x" becomes "x, at first".
    """
    request = json.loads(str(inputs[KEY])) if KEY in inputs else {}
    labels: dict[str, str] = {}
    for part in request.get("parts", ()):
        labels.setdefault(part.get("inputs", ""), part.get("label", ""))
    texts: dict[str, str] = {}
    for name, value in inputs.items():
        prefix, slash, rest = name.partition("/")
        label = labels.get(f"{prefix}{slash}")
        described = f"{rest}, {label}" if slash and label else name
        if name != KEY:
            texts[name if described in texts else described] = as_text(value)
    return texts


def _comparison(finding: Finding) -> ResultComparison:
    """Describe one expected result and the answer as texts."""
    answer = as_text(finding.actual)
    if finding.problem == RAISED:
        answer = "an error"
    message = _clip(finding.message) if finding.problem else ""
    return ResultComparison(
        printable(finding.name), as_text(finding.expected), answer, message
    )


def as_text(value: Value | None) -> str:
    """A value as text: a tensor as its dtype, shape and entries, a text as it is."""
    if value is None:
        return ""
    if isinstance(value, Other):
        return printable(f"of type {value.kind}")
    if not isinstance(value, torch.Tensor):
        return _clip(value)
    kind = dtype_of(value)
    plain = value.float() if value.dtype == torch.bfloat16 else value
    numbers = np.array2string(
        plain.numpy(), precision=6, threshold=_ENTRIES, edgeitems=2, max_line_width=88
    )
    return _clip(f"{kind}, shape {tuple(value.shape)}\n{numbers}")


def _clip(text: str) -> str:
    """Limit the length of a text, and make each of its lines printable."""
    clipped = text if len(text) <= _MAX_CHARACTERS else f"{text[:_MAX_CHARACTERS]} ..."
    return "\n".join(map(printable, clipped.splitlines()))
