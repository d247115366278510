"""Points by aspect: the aspect that each answer counts for, and what it is worth."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from autograder.authoring.specification import CaseKind, Specification
from autograder.checks import references
from autograder.checks.points import RESULTS, SEQUENCE, aspects, possible
from autograder.checks.prices import (
    FIFTH,
    HALF,
    PART,
    PRICES,
    RENAMED_ARGUMENT,
    TENTH,
    Price,
)
from autograder.checks.probes import OWN, find
from autograder.checks.properties import CHANGED_LATER, what_was_seen
from autograder.course.errors import CourseError

_WORDS = {
    HALF: "at least half",
    FIFTH: "at least a fifth",
    TENTH: "at least a tenth; all of these together at most a fifth",
}


def shares(name: str, points: float) -> dict[str, float]:
    """Share the points of an exercise, "unit/name", among its visible cases' aspects.

    An aspect is what answers are about, such as "values" or "gradients".
    """
    exercise = replace(references.load(name.split("/")[0])[name], points=points)
    case_aspects = dict.fromkeys(a for case in exercise.cases for a in aspects(case))
    usual = [aspect for aspect in PRICES if aspect in case_aspects]
    return possible(exercise, dict.fromkeys([*usual, *case_aspects]))


def price_table() -> str:
    """Return a Markdown table of what mistakes cost, for the students' guide."""
    prices = sorted([*PRICES.values(), PART], key=lambda price: -price.least)
    rows = [f"| {price.damage} | {_cost(price)} |" for price in prices]
    return "\n".join(["| what is wrong | costs |", "|---|---|", *rows])


def _cost(price: Price) -> str:
    """What a mistake of this price costs, in words."""
    if price is PRICES["names"]:
        return f"{100 * RENAMED_ARGUMENT:g} %"
    return _WORDS[price.least]


def answer_aspects(
    specification: Specification, kind: CaseKind, names: Iterable[str]
) -> dict[str, str]:
    """Map answers to the aspect of the points that they earn.

    An aspect is what answers are about, such as "values" or "gradients". The probe,
    which calls a student's object, declares one for each answer. Whether it counts
    depends on the case; an answer without an entry counts for the case's own.
    """
    if kind.says and kind.name != SEQUENCE:  # a general property
        return {}
    declared = {
        name: _declared_aspect(specification, what_was_seen(name)[0])
        for name in names
        if name != CHANGED_LATER
    }
    # The case is not about results: only small faults count separately.
    if kind.aspect not in RESULTS:
        return {
            name: aspect
            for name, aspect in declared.items()
            if aspect in PRICES and PRICES[aspect].small and aspect != kind.aspect
        }
    # Then the parts of a result, which have no price, earn points each.
    divided = kind.aspect == "values" and not kind.undivided
    return {
        name: aspect
        for name, aspect in declared.items()
        if aspect in PRICES or (divided and aspect != OWN)
    }


def _declared_aspect(specification: Specification, name: str) -> str:
    """Return the aspect that the probe declares for an answer."""
    if name in specification.part_names:
        return name
    try:
        aspect = find(specification.name).aspect(name)
    except LookupError as error:
        raise CourseError(f"{specification.name}: {error} beside its @probe") from None
    if aspect not in (OWN, *PRICES, *specification.part_names):
        raise CourseError(
            f"{specification.name}: its @probe declares {name!r} as part {aspect!r}; "
            "name that in the parts of its Specification"
        )
    return aspect
