"""What sets apart what is right from what is wrong, where nothing else is seen."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from autograder.checks.diagnostics.values import Sign
from autograder.checks.exercise import AFTERWARDS, RAISED, CaseResult, Finding
from autograder.checks.language import _, reworded

_ENOUGH = 4  # ordinary cases, so that one alone says something


def only_answer(results: Sequence[CaseResult]) -> Sign:
    """A case in which only one of several answers is wrong; the same one in each."""
    told = [(r, f[0].name) for r in _wrong(results) for f in [_alone(r)] if f]
    if not told or len({name for _result, name in told}) > 1:
        return None
    result, name = told[0]
    right = next(f.name for f in result.findings if _is_result(f) and not f.problem)
    return (
        _('In one case ("{case}") "{right}" is right, but "{name}" is not.').format(
            case=_(result.case.title), right=reworded(right), name=reworded(name)
        ),
        _("What does the second need beyond the first? Look at that step alone."),
    )


def _alone(result: CaseResult) -> list[Finding]:
    """The one result that is wrong beside right ones; [] if there are more, or none."""
    own = [f for f in result.findings if _is_result(f)]
    wrong = [f for f in own if f.problem]
    return wrong if len(wrong) == 1 < len(own) else []


def _is_result(finding: Finding) -> bool:
    """Whether it was computed, so that it is hardly right by chance."""
    value = finding.expected
    return (
        isinstance(value, torch.Tensor)
        and value.is_floating_point()
        and bool(value.any())
        and not finding.name.endswith(AFTERWARDS)
        and not finding.name.startswith("gradient of ")
    )


def only_case(results: Sequence[CaseResult]) -> Sign:
    """The one case that is wrong."""
    usual = [r for r in results if not (r.case.says or r.case.measure)]
    names = {r.case.name for r in usual}
    wrong = {r.case.name for r in usual if not r.passed}
    if len(names) < _ENOUGH or len(wrong) != 1:
        return None
    says = _("Only one case is wrong: {case}.")
    if not any(r.case.hidden for r in usual):
        says = _("Only one of the visible cases is wrong: {case}.")
    title = next(r.case.title for r in usual if not r.passed)
    return says.format(case=_(title)), _("What sets this case apart from the others?")


def _wrong(results: Sequence[CaseResult]) -> list[CaseResult]:
    return [r for r in results if not (r.passed or r.case.says or r.case.measure)]


def raised_in_a_measured_case(results: Sequence[CaseResult]) -> list[CaseResult]:
    """Measured cases that an error ended: what they would say, nobody knows."""
    return [
        r
        for r in results
        if r.case.measure and any(f.problem == RAISED for f in r.findings)
    ]


CONTRASTS = (only_answer, only_case)
