"""Text alternatives of figures, written from the numbers that the figures show."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

EVEN = 0.05  # two weights that are closer than this are called even


def number(value: float) -> str:
    """Format a value, rounded to three digits, or to a whole number from 1,000 on.

    Examples are ``0.0123``, ``12.3`` and ``1,230``.
    """
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.3g}"


def weights(matrix: Any, rows: Sequence[object], columns: Sequence[object]) -> str:
    """Say where each row of attention weights is largest: "it: cat 0.98; ..."."""
    phrases = []
    for name, row in zip(rows, matrix.tolist(), strict=True):
        most = max(row)
        if most - min(row) < EVEN:
            phrases.append(f"{name}: even")
            continue
        at = [str(c) for c, v in zip(columns, row, strict=True) if most - v < EVEN]
        phrases.append(f"{name}: {' and '.join(at)} {most:.2f}")
    return "; ".join(phrases) + "."


def mask(allowed: Any, rows: Sequence[object], columns: Sequence[object]) -> str:
    """Describe in words which columns each row of a mask allows."""
    phrases = []
    for name, row in zip(rows, allowed.tolist(), strict=True):
        names = [str(c) for c, ok in zip(columns, row, strict=True) if ok]
        phrases.append(f"{name}: {', '.join(names) or 'none'}")
    return "; ".join(phrases) + "."


def curve(ys: Iterable[float]) -> str:
    """Describe the ends and extremes of a curve: "from 2.3 to 0.01, lowest 0.008"."""
    values = [float(y) for y in ys]
    first, last = values[0], values[-1]
    text = f"from {number(first)} to {number(last)}"
    low, high = min(values), max(values)
    beyond = 0.1 * (high - low)
    if min(first, last) - low > beyond:
        text += f", lowest {number(low)}"
    if high - max(first, last) > beyond:
        text += f", highest {number(high)}"
    return text


def curves(named: Mapping[str, Iterable[float]]) -> str:
    """Describe several curves in words, each after its name."""
    return "; ".join(f"{name}: {curve(ys)}" for name, ys in named.items()) + "."


def bars(named: Mapping[str, float], unit: str = "") -> str:
    """List the values of a bar chart in words, each after the name of its bar."""
    return ", ".join(f"{name} {number(v)}{unit}" for name, v in named.items()) + "."
