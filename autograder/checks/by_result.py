"""Name the mistake behind one wrong result, if no mistake explains all results.

If an exercise asks for several results, each may be spoilt by a different
mistake. One is still named if it alone explains a wrong result in every case,
and agrees with all right results.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch

from autograder.checks.diagnostics.alike import is_gradient
from autograder.checks.exercise import CaseResult, Finding, Mistake
from autograder.checks.points import MINOR
from autograder.checks.values import is_predicted

_FEWEST = 2  # cases in which a result is wrong in the way of a mistake
TELLING = 4  # this many different numbers do not agree by chance
LONG = 40  # nor does a text of this many letters

Findings = Mapping[str, list[tuple[CaseResult, Finding]]]  # by the name of a result


def name_by_result(
    results: Sequence[CaseResult], mistakes: Sequence[Mistake]
) -> tuple[list[Mistake], bool]:
    """List the mistakes that explain single results, if none explains all of them.

    A wrong result proves a mistake if this one, and no other, predicts it and all
    right results in every case, unless it may be wrong by chance.

    Returns:
        The proven mistakes; and whether each of the wrong results proves one.
    """
    findings = _find_results(results)
    wrong = [n for n, rows in findings.items() if any(f.problem for _, f in rows)]
    named: list[Mistake] = []
    explained = 0
    for name in wrong:
        fitting = [
            mistake
            for mistake in mistakes
            if any(_explains(findings, name, v) for v in mistake.variants)
        ]
        # Mistakes that are described in the same words count as one.
        if len({m.says for m in fitting}) == 1 and _is_systematic(findings[name]):
            explained += 1
            named += [m for m in fitting[:1] if m not in named]
    return named, explained == len(wrong)


def _find_results(results: Sequence[CaseResult]) -> Findings:
    """Collect the findings on each result, with their cases, by the result's name."""
    findings: dict[str, list[tuple[CaseResult, Finding]]] = {}
    for result in results:
        for f in result.findings:
            is_minor = result.case.aspect_of(f.name) in MINOR
            if f.name and not (is_minor or is_gradient(f)):
                findings.setdefault(f.name, []).append((result, f))
    return findings


def _explains(findings: Findings, name: str, variant: str) -> bool:
    """Return whether a variant predicts the named result and all right results."""
    right = [(r, f) for rows in findings.values() for r, f in rows if not f.problem]
    return all(is_predicted(r, f, variant) for r, f in (*findings[name], *right))


def _is_systematic(rows: Sequence[tuple[CaseResult, Finding]]) -> bool:
    """Whether a result is wrong in several cases, and in more than a few entries."""
    wrong = [f for _, f in rows if f.problem]
    return len(wrong) >= _FEWEST and sum(map(_count_wrong, wrong)) >= TELLING


def _count_wrong(finding: Finding) -> int:
    """Count the wrong entries of a result, to judge whether they may be chance."""
    a, b = finding.expected, finding.actual
    if isinstance(b, str):
        # A long text proves as much as several numbers do.
        return TELLING if len(b) >= LONG else 1
    if not (isinstance(a, torch.Tensor) and isinstance(b, torch.Tensor)):
        return 0
    if a.shape != b.shape or a.dtype != b.dtype:
        # Entries cannot be paired: count how many different numbers there are.
        return len(b.unique())
    return int((a != b).sum())
