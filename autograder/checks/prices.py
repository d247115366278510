"""How many points each kind of fault costs: one table for all exercises.

Points are divided over aspects by weight. Faults that spoil ordinary results
cost at least half, and those that leave them right a tenth to a fifth.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from autograder.checks.language import translatable

HALF, FIFTH, TENTH = 0.5, 0.2, 0.1
RENAMED_ARGUMENT = 0.05


@dataclass(frozen=True)
class Price:
    """What a fault in an aspect costs, in shares of an exercise's points.

    Points are divided by ``weight``, and ``least`` is the smallest loss. All
    ``small`` aspects together cost at most a fifth. ``word`` names the aspect, and
    ``damage`` describes the fault to students.
    """

    weight: float
    least: float
    word: str
    damage: str
    small: bool = False


PRICES = {
    "values": Price(
        6.0, HALF, translatable("values"),
        "a result is wrong in ordinary use, or NaN or infinite",
    ),
    "masks": Price(
        3.0, HALF, translatable("masks"), "a mask is ignored or applied wrongly"
    ),
    "calls": Price(
        1.5, HALF, translatable("repeated calls"),
        "a call changes its arguments, or its result depends on an earlier call",
    ),
    "gradients": Price(
        1.5, HALF, translatable("gradients"), "a gradient is missing or wrong"
    ),
    "mode": Price(
        1.5, FIFTH, translatable("training and evaluation mode"),
        "dropout, or another difference between training and evaluation mode, is wrong",
    ),
    "learning": Price(
        1.5, FIFTH, translatable("parameters and start values"),
        "a module's parameters, buffers or initial values are wrong",
    ),
    "form": Price(
        1.5, TENTH, translatable("form"),
        "the results are right, but in another form: a dtype, a name, a type", True,
    ),
    "limits": Price(
        1.5, TENTH, translatable("unusual inputs"),
        "only unusual inputs give a wrong result: a size of 1, extreme numbers, a tie",
        True,
    ),
    "errors": Price(
        1.0, TENTH, translatable("promised errors"), "a promised error is not raised",
        True,
    ),
    "names": Price(
        0.0, 0.0, translatable("names of arguments"),
        "an argument has another name than in the task (it is passed by position then)",
        True,
    ),
}  # fmt: skip
# The price of one of several results that an exercise declares as an aspect.
PART = Price(4.0, HALF, "", "one of several results is wrong")


def price(aspect: str) -> Price:
    """Return the price of a fault in an aspect; `PART` for one that `PRICES` lacks."""
    return PRICES.get(aspect, PART)


def divide(present: Iterable[str]) -> dict[str, float]:
    """Map each of the given aspects to its share of the points; the sum is one."""
    weights = {aspect: price(aspect).weight for aspect in present}
    # Names have a fixed share; they and other small aspects get at most a fifth.
    rest = 1.0 - RENAMED_ARGUMENT if "names" in weights else 1.0
    small = sum(weight for a, weight in weights.items() if price(a).small)
    large = sum(weights.values()) - small
    for_small = min(small / (small + large), FIFTH - (1.0 - rest)) if large else 1.0
    per_weight = {
        True: rest * for_small / small if small else 0.0,
        False: rest * (1.0 - for_small) / large if large else 0.0,
    }
    divided = {a: w * per_weight[price(a).small] for a, w in weights.items()}
    return divided | ({"names": 1.0 - rest} if "names" in weights else {})
