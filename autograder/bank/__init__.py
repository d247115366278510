"""What stays with the instructor: each exercise's cases, mistakes, accepted solutions.

A folder is a unit, a file an exercise; one whose name begins with ``_`` is shared.
"""

from __future__ import annotations

import ast
import importlib
import inspect
from pathlib import Path

from autograder.oracle.specification import Specification


def specifications(unit: str) -> tuple[Specification, ...]:
    """The exercises of a unit, in the order of its notebook; what it lacks is last."""
    files = sorted(p for root in __path__ for p in Path(root, unit).glob("[!_]*.py"))
    places = {name: i for i, name in enumerate(_defined(unit))}
    found = [specification(f"{unit}/{file.stem}") for file in files]
    return tuple(sorted(found, key=lambda one: places.get(one.target, len(places))))


def specification(name: str) -> Specification:
    """The exercise of that name, "unit/exercise"."""
    module = importlib.import_module(f"autograder.bank.{name.replace('/', '.')}")
    made: Specification = module.EXERCISE
    return made


def _defined(unit: str) -> list[str]:
    """The names that a unit's solutions define, which are built from the notebook."""
    module = importlib.import_module(f"autograder.solutions.{unit}")
    found = []
    for node in ast.parse(inspect.getsource(module)).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.append(node.name)
        elif isinstance(node, ast.Assign):
            found += [name.id for name in node.targets if isinstance(name, ast.Name)]
    return found
