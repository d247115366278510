"""What answers earn, by aspect: values, masks, what stays between calls, gradients ...

Each case belongs to an aspect, and so do some of its answers: what an input holds
afterwards, a gradient, what kind of thing came back. An answer counts for its own
aspect if the values beside it are right, and what everybody could answer if something
else is: nothing trivial scores.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from autograder.student.exercise import RAISED, Case, CaseResult, Exercise

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
_RESULTS = ("values", "masks")  # aspects whose cases hold answers of other ones
_LEARNING = (
    *("gradient of ", "gradients recorded", "vectors that start "),
    *("parameters", "other parameters", "matrices that do not start "),
)


def earned(
    exercise: Exercise, results: Sequence[CaseResult]
) -> dict[str, tuple[float, float]]:
    """By aspect, the points earned and those that there are.

    An exercise's points are divided over the aspects that its cases have, by weight;
    within an aspect, cases count equally. Drawings of one case count once, and only
    together. As long as open cases alone are right, nothing is earned. A case that
    could not be looked at, by the box's own word, earns nothing and costs nothing.
    """
    unseen = {result.case.name for result in results if not result.looked_at}
    results = [result for result in results if result.case.name not in unseen]
    found = credits(results)
    closed = {result.case.name for result in results if not result.case.open}
    solved = any(own.get(name) for own in found.values() for name in closed)
    most = possible(exercise, found)
    return {
        aspect: (solved * most[aspect] * sum(own.values()) / len(own), most[aspect])
        for aspect, own in found.items()
    }


def credits(results: Iterable[CaseResult]) -> Credits:
    """The share that each case earns in each of its aspects."""
    found: Credits = {}
    for result in results:
        for aspect, share in _shares(result).items():
            own = found.setdefault(aspect, {})
            name = result.case.name
            own[name] = min(share, own.get(name, math.inf))
    return found


def possible(exercise: Exercise, present: Iterable[str]) -> dict[str, float]:
    """The points of an exercise, divided over the aspects that are present."""
    weights = {a: exercise.aspects.get(a, WEIGHTS.get(a, 1.0)) for a in present}
    return {a: exercise.points * w / sum(weights.values()) for a, w in weights.items()}


def aspects(case: Case) -> list[str]:
    """The aspects that a case's answers belong to, its own one first."""
    if case.measure:
        return [case.aspect]
    own = [_aspect(case, name) for name in case.expected]
    return list(dict.fromkeys([case.aspect, *own]))


def _shares(result: CaseResult) -> dict[str, float]:
    """By aspect, the share of a case that its answers earn."""
    case = result.case
    if case.measure or result.passed:
        return dict.fromkeys(aspects(case), result.credit)
    wrong = {_aspect(case, f.name) for f in result.findings if f.problem}
    if case.aspect in wrong or any(f.problem == RAISED for f in result.findings):
        wrong |= set(aspects(case))
    return {aspect: float(aspect not in wrong) for aspect in aspects(case)}


def _aspect(case: Case, name: str) -> str:
    if case.says or case.aspect not in _RESULTS:
        return case.aspect
    if name.startswith(_LEARNING):
        return "learning"
    if name.endswith(" afterwards") or "second call" in name:
        return "calls"
    if name.startswith("form of "):  # of a text that says the right thing
        return "form"
    if name.startswith("error at "):
        return "errors"
    if name.startswith("kind of "):  # a tensor for a float, say: the number is right
        return "calls"
    return "mode" if name.endswith("in training mode") else case.aspect
