"""The exercises of a unit by name: cases, mistakes and accepted solutions.

``units/UNIT/exercises/`` has a file for each; one whose name begins with ``_`` is
shared.
"""

from __future__ import annotations

import importlib
import inspect

from autograder.authoring.specification import Specification
from autograder.authoring.trees import defined
from autograder.course import ROOT

_UNITS = ROOT / "autograder" / "units"


def specifications(unit: str) -> tuple[Specification, ...]:
    """The exercises of a unit, in the order of its notebook; what it lacks is last."""
    files = sorted((_UNITS / unit / "exercises").glob("[!_]*.py"))
    solutions = importlib.import_module(f"autograder.solutions.{unit}")
    places = {name: i for i, name in enumerate(defined(inspect.getsource(solutions)))}
    found = [specification(f"{unit}/{file.stem}") for file in files]
    return tuple(sorted(found, key=lambda one: places.get(one.target, len(places))))


def specification(name: str) -> Specification:
    """The exercise of that name, "unit/exercise"."""
    unit, _, exercise = name.partition("/")
    module = importlib.import_module(f"autograder.units.{unit}.exercises.{exercise}")
    made: Specification = module.EXERCISE
    return made
