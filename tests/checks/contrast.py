"""Contrast of two colours, by the Web Content Accessibility Guidelines."""

from collections.abc import Iterable


def luminance(colour: Iterable[float]) -> float:
    """Of red, green and blue, each from 0 to 255."""
    parts = [c / 255 for c in colour]
    r, g, b = (
        p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in parts
    )
    return 0.2126 * r + 0.7152 * g + 0.0722 * b


def contrast(first: Iterable[float], second: Iterable[float]) -> float:
    """From 1, of equal colours, to 21."""
    dark, light = sorted((luminance(first), luminance(second)))
    return (light + 0.05) / (dark + 0.05)
