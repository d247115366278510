"""Helpers for the probes of several units."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autograder.checks.probes import Inputs
from autograder.checks.probes.clinics import accepts


def read_integers(inputs: Inputs, *names: str) -> tuple[int, ...]:
    """Read the inputs with these names as Python integers."""
    return tuple(int(str(inputs[n].item())) for n in names)


def run_test(test: Callable[..., Any], *arguments: object) -> str:
    """Run a student's test: "rejected" if an assertion fails, else "accepted".

    Raises WrongAnswerError if the test has returned something.
    """
    try:
        result = test(*arguments)
    except AssertionError:
        return "rejected"
    return accepts(result)
