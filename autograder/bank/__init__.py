"""What stays with the instructor: each exercise's cases, mutants, accepted solutions.

A folder holds a unit; its ``EXERCISES`` name the files, one an exercise.
"""

from __future__ import annotations

import importlib

from autograder.oracle.specification import Specification


def specifications(unit: str) -> tuple[Specification, ...]:
    """The exercises of a unit, in the order of its notebook."""
    folder = f"autograder.bank.{unit}"
    return tuple(
        importlib.import_module(f"{folder}.{name}").EXERCISE
        for name in importlib.import_module(folder).EXERCISES
    )


def specification(name: str) -> Specification:
    """The exercise of that name, "unit/exercise"."""
    return next(s for s in specifications(name.split("/")[0]) if s.name == name)
