"""What answers earn by aspect: values, masks, repeated calls, gradients and so on.

Each case belongs to an aspect; its probe may declare another one for some of
the answers, such as a gradient. These earn points only beside right results, so
that nothing trivial scores. What a fault costs is defined in prices.py.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import torch

from autograder.checks.exercise import (
    CALLED,
    RAISED,
    RENAMED,
    Answers,
    Case,
    CaseResult,
    Exercise,
    Finding,
)
from autograder.checks.prices import FIFTH, HALF, PRICES, TENTH, divide, price
from autograder.checks.properties import what_was_seen
from autograder.checks.properties.arguments import OVERWRITTEN
from autograder.checks.ready_made import is_pytorchs
from autograder.checks.values import same_but_dtype

Credits = dict[str, dict[str, float]]  # by aspect, then by the name of the case
SEQUENCE = "property_sequence"  # the case that runs an exercise's probe several times
RESULTS = ("values", "masks")  # aspects of results
MINOR = frozenset(PRICES).difference(RESULTS)  # all others in the table


def earned(
    exercise: Exercise, results: Sequence[CaseResult]
) -> dict[str, tuple[float, float]]:
    """Map each aspect to the points earned and the points possible.

    An aspect, like "gradients", is what answers count for. A fault usually costs at
    least the price of its aspect.
    """
    # Cases that could not be tried on this answer neither earn nor cost points.
    unseen = {result.case.name for result in results if not result.looked_at}
    results = [result for result in results if result.case.name not in unseen]
    aspect_credits = credits(results)
    open_pairs = open_parts(result.case for result in results)
    # Nothing is earned unless something is right that only a solution gets right.
    solved = any(
        share and (name, aspect) not in open_pairs
        for aspect, case_shares in aspect_credits.items()
        for name, share in case_shares.items()
    )
    most = possible(exercise, aspect_credits)
    points = {
        aspect: solved * most[aspect] * sum(case_shares.values()) / len(case_shares)
        for aspect, case_shares in aspect_credits.items()
    }
    if "limits" in points:  # in proportion to the ordinary results that are right
        ordinary = {a: m for a, m in most.items() if _is_result(a)}
        right = sum(points[aspect] for aspect in ordinary)
        points["limits"] *= right / sum(ordinary.values()) if ordinary else 1.0
    for least, damaged in _damaged_aspects(exercise, results, aspect_credits).items():
        _charge(least * exercise.points, damaged, points, most)
    return {aspect: (points[aspect], most[aspect]) for aspect in aspect_credits}


def _damaged_aspects(
    exercise: Exercise, results: Sequence[CaseResult], aspect_credits: Credits
) -> dict[float, list[str]]:
    """Map each minimum loss, a share of the points, to the faulty aspects with it.

    An aspect is what answers count for, like "gradients". Those that are wrong only
    because of others are usually left out.
    """
    measured = {result.case.name for result in results if result.case.measure}
    wrong = [
        aspect
        for aspect, case_shares in aspect_credits.items()
        if any(share < 1 for name, share in case_shares.items() if name not in measured)
    ]
    others = [aspect for aspect in wrong if aspect not in ("calls", "limits")]
    # Other faults also spoil repeated calls, unless a call is seen to change something.
    if others and not any(map(_is_change, results)):
        wrong = [aspect for aspect in wrong if aspect != "calls"]
    # If each case is a task of its own, a wrong result costs only its share.
    if exercise.separate:
        wrong = [aspect for aspect in wrong if not _is_result(aspect)]
    return {
        least: [aspect for aspect in wrong if price(aspect).least == least]
        for least in (HALF, FIFTH, TENTH)
    }


def _is_change(result: CaseResult) -> bool:
    """Return whether a case shows that a call has changed what it should not."""
    return result.case.name != SEQUENCE and any(
        finding.problem and result.case.aspect_of(finding.name) == "calls"
        for finding in result.findings
    )


def _is_result(aspect: str) -> bool:
    """Whether an aspect concerns results, not how they are reached (as "calls" does).

    An aspect without a price of its own is one part of the results.
    """
    return aspect in RESULTS or aspect not in PRICES


def _charge(
    least: float, damaged: Sequence[str], points: dict[str, float],
    most: dict[str, float],
) -> None:  # fmt: skip
    """Deduct points in the damaged aspects until at least ``least`` are lost in all.

    If they have too few, the first of them gets a larger share of all points. The
    points earned and possible by aspect, ``points`` and ``most``, are changed.
    """
    due = least - (sum(most.values()) - sum(points.values()))
    for aspect in damaged:
        deduction = max(0.0, min(due, points[aspect]))
        points[aspect], due = points[aspect] - deduction, due - deduction
    remaining = sum(points.values())
    if not damaged or due <= 0 or not remaining:
        return
    for aspect, share in points.items():
        cut = share * due / remaining
        points[aspect], most[aspect] = share - cut, most[aspect] - cut
    most[damaged[0]] += due


def credits(results: Iterable[CaseResult]) -> Credits:
    """Map each aspect to the shares of its points that cases earn, by name of case.

    If any case calls a function that already does the student's task, no result
    earns anything.
    """
    aspect_credits: Credits = {}
    results = list(results)
    called = [f.actual for r in results for f in r.findings if f.problem == CALLED]
    all_pytorchs = all(is_pytorchs(str(name)) for name in called)
    for result in results:
        case = result.case
        holds_results = bool(parts_of(case)) or case.aspect in RESULTS
        shares = _shares(result)
        # PyTorch's functions cost only the results; other ready-made ones, everything.
        if called and (holds_results or not all_pytorchs):
            shares = dict.fromkeys(shares, 0.0)
        for aspect, share in shares.items():
            case_shares = aspect_credits.setdefault(aspect, {})
            case_shares[case.name] = min(share, case_shares.get(case.name, math.inf))
    return aspect_credits


def open_parts(cases: Iterable[Case]) -> set[tuple[str, str]]:
    """Return the pairs (case, aspect) that can be answered without a solution.

    Anybody can guess the answers, or read them in a visible case.
    """
    return {
        (case.name, aspect)
        for case in cases
        for aspect in (aspects(case) if case.open else case.shipped)
    }


def possible(exercise: Exercise, present: Iterable[str]) -> dict[str, float]:
    """The points of an exercise, divided over the given aspects."""
    return {a: exercise.points * share for a, share in divide(present).items()}


def parts_of(case: Case) -> set[str]:
    """Return the aspects that an exercise declares for parts of a case's results."""
    return set(case.aspects.values()) - PRICES.keys()


def aspects(case: Case) -> list[str]:
    """The aspects for which a case's answers count, its own one first."""
    if case.measure:
        return [case.aspect]
    answer_aspects = dict.fromkeys(case.aspect_of(name) for name in case.expected)
    if case.aspect in answer_aspects or not parts_of(case):
        return list(dict.fromkeys([case.aspect, *answer_aspects]))
    return list(answer_aspects)


def _shares(result: CaseResult) -> dict[str, float]:
    """Map each aspect of a case to the share that the answers earn in it.

    If the results are wrong, other aspects, such as gradients, usually earn nothing
    either. A share is 0 or 1, unless the case is measured.
    """
    case, parts = result.case, parts_of(result.case)
    case_aspects = aspects(case)
    if case.measure or result.passed:
        return dict.fromkeys(case_aspects, result.credit)
    raised = any(finding.problem == RAISED for finding in result.findings)
    problems = [f for f in result.findings if f.problem not in ("", RAISED)]
    wrong = {_aspect_of_damage(case, finding) for finding in problems}
    wrong |= set(case_aspects) if raised else set()
    results = {case.aspect} & set(case_aspects) or parts
    if results <= wrong:  # beside wrong results, only right parts still count
        wrong |= set(case_aspects) - parts
    return {a: float(a not in wrong) for a in dict.fromkeys([*case_aspects, *wrong])}


def _aspect_of_damage(case: Case, finding: Finding) -> str:
    """Return the aspect in which a wrong answer is at fault; it may not be its own.

    For example, a right number of the wrong dtype is a fault in form, and NaN from
    finite inputs is a wrong value even for unusual inputs.
    """
    if finding.problem == RENAMED:
        return "names"
    if what_was_seen(finding.name)[1] == OVERWRITTEN:
        return "limits"
    if finding.problem == "dtype" and same_but_dtype(
        finding.expected, finding.actual, case
    ):
        return "form"
    aspect = case.aspect_of(finding.name)
    if finding.problem == "finite" and price(aspect).small and _is_finite(case.inputs):
        return RESULTS[0]
    return aspect


def _is_finite(inputs: Answers) -> bool:
    """Whether no input tensor holds NaN or infinity."""
    return all(
        bool(value.isfinite().all())
        for value in inputs.values()
        if isinstance(value, torch.Tensor)
    )
