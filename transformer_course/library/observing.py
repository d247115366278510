"""Helpers for the probes of several units."""

from __future__ import annotations

from autograder.checks.probes import Inputs


def whole(inputs: Inputs, *names: str) -> tuple[int, ...]:
    """The inputs with these names as Python integers."""
    return tuple(int(str(inputs[n].item())) for n in names)
