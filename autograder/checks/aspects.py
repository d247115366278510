"""Describe the points lost in each aspect of an exercise (values, gradients, ...).

PyTorch is not imported, because reports do not need it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from autograder.checks.language import _
from autograder.checks.prices import price

_LEAST = 0.005  # points: a smaller loss would be shown as 0


def by_aspect(aspects: Mapping[str, Sequence[float]]) -> str:
    """Return a sentence on the points lost in each aspect, the largest loss first.

    It is "" if the total of the points says the same.

    Args:
        aspects: by aspect, the points earned and the points possible.
    """
    lost = {name: most - earned for name, (earned, most) in aspects.items()}
    named = [name for name in lost if lost[name] >= _LEAST]
    has_earned = any(earned for earned, _ in aspects.values())
    if len(aspects) < 2 or not named or not has_earned:
        return ""
    named.sort(key=lambda name: (-lost[name], name))
    parts = [
        _("{lost} of {most} for {aspect}").format(
            lost=_number(lost[name]),
            most=_number(aspects[name][1]),
            aspect=_(price(name).word or name),
        )
        for name in named
    ]
    return _("Points lost: {parts}.").format(parts=", ".join(parts))


def describe_points(earned: float, most: float) -> str:
    return _("{points:g} of {most:g} points").format(points=earned, most=most)


def _number(points: float) -> str:
    return f"{round(points, 2):g}"
