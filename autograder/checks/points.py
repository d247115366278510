"""What answers earn, by aspect: values, masks, what stays between calls, gradients ...

Each case belongs to an aspect, and so do some of its answers: what an input holds
afterwards, a gradient, what kind of thing came back. Which ones, the probe declares
that reports them. An answer counts for its own aspect if the values beside it are
right, and what everybody could answer if something else is: nothing trivial scores. Of
several results, one may be a part of its own, which counts for itself: an exercise that
weighs an aspect of no usual name has one.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from autograder.checks.exercise import CALLED, RAISED, Case, CaseResult, Exercise
from autograder.checks.ready_made import is_pytorchs

# How much an aspect weighs where an exercise does not say otherwise.
WEIGHTS = {
    "values": 6.0,
    "masks": 3.0,
    "form": 1.5,
    "calls": 1.5,
    "learning": 1.5,
    "mode": 1.5,
    "errors": 1.0,
}
Credits = dict[str, dict[str, float]]  # by aspect, then by the name of the case
RESULTS = ("values", "masks")  # aspects whose cases hold answers of other ones
LEAST = 0.15  # of its points, that an exercise loses where something computes wrongly
_BESIDE = ("form", "learning", "errors")  # aspects in which results may still be right


def earned(
    exercise: Exercise, results: Sequence[CaseResult]
) -> dict[str, tuple[float, float]]:
    """By aspect, the points earned and the points possible.

    An exercise's points are divided over the aspects that its cases have, by weight;
    within an aspect, cases count equally. Drawings of one case count once, and only
    together. If nothing is right but open cases and answers that ship with the visible
    cases (`open_parts`), nothing is earned. A case that could not be looked at, by the
    sandbox's own word, earns nothing and costs nothing. A wrong result, also of a later
    call or in another mode, costs at least `LEAST`, in however few cases it shows. This
    does not apply if all cases count for one aspect: each of them is a task of its own.
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
    due = LEAST * sum(most.values()) - (sum(most.values()) - sum(points.values()))
    charged = (
        _aspects_to_reduce(results, aspect_credits) if len(aspect_credits) > 1 else []
    )
    for aspect in charged:
        deduction = max(0.0, min(due, points.get(aspect, 0.0)))
        points[aspect], due = points.get(aspect, 0.0) - deduction, due - deduction
    return {aspect: (points[aspect], most[aspect]) for aspect in aspect_credits}


def _aspects_to_reduce(
    results: Iterable[CaseResult], aspect_credits: Credits
) -> list[str]:
    """The aspects with a wrong result, then that of values; none if all is right."""
    measured = {result.case.name for result in results if result.case.measure}
    wrong = [
        aspect
        for aspect, case_shares in aspect_credits.items()
        if aspect not in _BESIDE
        if any(share < 1 for name, share in case_shares.items() if name not in measured)
    ]
    return list(dict.fromkeys([*wrong, RESULTS[0]])) if wrong else []


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
    weights = {a: exercise.aspects.get(a, WEIGHTS.get(a, 1.0)) for a in present}
    return {a: exercise.points * w / sum(weights.values()) for a, w in weights.items()}


def parts_of(case: Case) -> set[str]:
    """The aspects of no usual name that some of a case's answers count for."""
    return set(case.aspects.values()) - WEIGHTS.keys()


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
    wrong = {case.aspect_of(f.name) for f in result.findings if f.problem}
    if any(f.problem == RAISED for f in result.findings):
        wrong |= set(case_aspects)
    results = {case.aspect} & set(case_aspects) or parts
    if results <= wrong:
        wrong |= set(case_aspects) - parts
    return {aspect: float(aspect not in wrong) for aspect in case_aspects}
