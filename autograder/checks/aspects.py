"""Points by aspect, in a line. Without PyTorch: who only reports needs none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence


def by_aspect(aspects: Mapping[str, Sequence[float]]) -> str:
    """Aspects with the points earned, and those possible, in a line; "" for one.

    Those that are worth most come first.
    """
    if len(aspects) < 2:
        return ""
    ordered = sorted(aspects.items(), key=lambda item: (-item[1][1], item[0]))
    return " · ".join(f"{name} {a:.3g} of {b:.3g}" for name, (a, b) in ordered)
