"""What answers earn, by aspect: values, masks, what stays between calls, gradients ...

Each case belongs to an aspect, and so do some of its answers: what an input holds
afterwards, a gradient, what kind of thing came back. Which ones, the probe declares
that reports them. An answer counts for its own aspect if the values beside it are
right, and what everybody could answer if something else is: nothing trivial scores. Of
several results, one may be a part of its own, which counts for itself: an aspect of no
usual name. What damage to an aspect costs is said in one table (prices.py).
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
SEQUENCE = "property_sequence"  # the case of several calls of an exercise's own probe
RESULTS = ("values", "masks")  # aspects whose cases hold answers of other ones
MINOR = frozenset(PRICES).difference(RESULTS)  # those that hold no results


def earned(
    exercise: Exercise, results: Sequence[CaseResult]
) -> dict[str, tuple[float, float]]:
    """By aspect, the points earned and the points possible.

    An exercise's points are divided over the aspects that its cases have; within an
    aspect, cases count equally. Drawings of one case count once, and only together. If
    nothing is right but open cases and answers that ship with the visible cases
    (`open_parts`), nothing is earned. A case that could not be looked at, by the
    sandbox's own word, earns nothing and costs nothing. Damage costs at least the price
    of its aspect, in however few cases it shows. Where cases are `separate` tasks, a
    wrong result costs its share only.
    """
    unseen = {result.case.name for result in results if not result.looked_at}
    results = [result for result in results if result.case.name not in unseen]
    aspect_credits = credits(results)
    open_pairs = open_parts(result.case for result in results)
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
    if "limits" in points:  # they count as far as ordinary results are right
        ordinary = {a: m for a, m in most.items() if _is_result(a)}
        right = sum(points[aspect] for aspect in ordinary)
        points["limits"] *= right / sum(ordinary.values()) if ordinary else 1.0
    for least, damaged in _damaged_aspects(exercise, results, aspect_credits).items():
        _charge(least * exercise.points, damaged, points, most)
    return {aspect: (points[aspect], most[aspect]) for aspect in aspect_credits}


def _damaged_aspects(
    exercise: Exercise, results: Sequence[CaseResult], aspect_credits: Credits
) -> dict[float, list[str]]:
    """The aspects in which something is wrong, by the least that it costs."""
    measured = {result.case.name for result in results if result.case.measure}
    wrong = [
        aspect
        for aspect, case_shares in aspect_credits.items()
        if any(share < 1 for name, share in case_shares.items() if name not in measured)
    ]
    others = [aspect for aspect in wrong if aspect not in ("calls", "limits")]
    if others and not any(map(_is_change, results)):
        wrong = [aspect for aspect in wrong if aspect != "calls"]
    if exercise.separate:
        wrong = [aspect for aspect in wrong if not _is_result(aspect)]
    return {
        least: [aspect for aspect in wrong if price(aspect).least == least]
        for least in (HALF, FIFTH, TENTH)
    }


def _is_change(result: CaseResult) -> bool:
    """Whether a call has left something changed.

    A sequence of all that a probe reports says nothing: what is wrong in one call is
    wrong in the others, too.
    """
    return result.case.name != SEQUENCE and any(
        finding.problem and result.case.aspect_of(finding.name) == "calls"
        for finding in result.findings
    )


def _is_result(aspect: str) -> bool:
    """Whether results count for an aspect, or a part of them."""
    return aspect in RESULTS or aspect not in PRICES


def _charge(
    least: float, damaged: Sequence[str], points: dict[str, float],
    most: dict[str, float],
) -> None:  # fmt: skip
    """Take points until the least is lost, those of the damaged aspects first.

    Where these are not enough, the first damaged one is given a larger share of the
    exercise, and the others a smaller one.
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
    """The share that each case earns in each of its aspects.

    Where a ready-made answer was called, in whichever case that showed, results are
    worth as much as wrong ones: of PyTorch's, what is right beside them is still the
    student's own; of the course's, nothing is.
    """
    aspect_credits: Credits = {}
    results = list(results)
    called = [f.actual for r in results for f in r.findings if f.problem == CALLED]
    all_pytorchs = all(is_pytorchs(str(name)) for name in called)
    for result in results:
        case = result.case
        holds_results = bool(parts_of(case)) or case.aspect in RESULTS
        shares = _shares(result)
        if called and (holds_results or not all_pytorchs):
            shares = dict.fromkeys(shares, 0.0)
        for aspect, share in shares.items():
            case_shares = aspect_credits.setdefault(aspect, {})
            case_shares[case.name] = min(share, case_shares.get(case.name, math.inf))
    return aspect_credits


def open_parts(cases: Iterable[Case]) -> set[tuple[str, str]]:
    """The parts (case, aspect) that anyone who has read what ships could answer."""
    return {
        (case.name, aspect)
        for case in cases
        for aspect in (aspects(case) if case.open else case.shipped)
    }


def possible(exercise: Exercise, present: Iterable[str]) -> dict[str, float]:
    """The points of an exercise, divided over the aspects that are present."""
    return {a: exercise.points * share for a, share in divide(present).items()}


def parts_of(case: Case) -> set[str]:
    """The aspects of no usual name that some of a case's answers count for."""
    return set(case.aspects.values()) - PRICES.keys()


def aspects(case: Case) -> list[str]:
    """The aspects that a case's answers belong to, its own one first."""
    if case.measure:
        return [case.aspect]
    answer_aspects = dict.fromkeys(case.aspect_of(name) for name in case.expected)
    if case.aspect in answer_aspects or not parts_of(case):
        return list(dict.fromkeys([case.aspect, *answer_aspects]))
    return list(answer_aspects)


def _shares(result: CaseResult) -> dict[str, float]:
    """By aspect, the share of a case that its answers earn."""
    case, parts = result.case, parts_of(result.case)
    case_aspects = aspects(case)
    if case.measure or result.passed:
        return dict.fromkeys(case_aspects, result.credit)
    raised = any(finding.problem == RAISED for finding in result.findings)
    problems = [f for f in result.findings if f.problem not in ("", RAISED)]
    wrong = {_aspect_of_damage(case, finding) for finding in problems}
    wrong |= set(case_aspects) if raised else set()
    results = {case.aspect} & set(case_aspects) or parts
    if results <= wrong:
        wrong |= set(case_aspects) - parts
    return {a: float(a not in wrong) for a in dict.fromkeys([*case_aspects, *wrong])}


def _aspect_of_damage(case: Case, finding: Finding) -> str:
    """The aspect that a wrong answer counts for: what is damaged, not where it shows.

    A right number of another dtype is a fault in form, and NaN out of ordinary numbers
    is a wrong result also where inputs are unusual.
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
    return all(
        bool(value.isfinite().all())
        for value in inputs.values()
        if isinstance(value, torch.Tensor)
    )
