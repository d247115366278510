"""Check that a unit's probes and library import only what ships to students.

A probe is code that calls a student's object, also in places where the rest of
the course is missing.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from autograder.course import Unit
from autograder.course.errors import Faults
from autograder.root import PACKAGE

# What ships: packages of the engine and the course, and packages in each unit.
_OF_THE_ENGINE = ("check", "checks", "figures")
_SHARED = ("library", "measures", "solutions")  # solutions of earlier units
_OF_A_UNIT = ("probes", "library")


def refuse_unfit(unit: Unit) -> None:
    """Raise a CourseError if a unit's probes or library cannot run in a sandbox."""
    faults = Faults()
    for name in _OF_A_UNIT:
        module = unit.folder / f"{name}.py"
        if module.is_file():
            path = module.relative_to(unit.root)
            faults.append(
                f"{path}:1: {name} are a package; move this file to "
                f"{path.with_suffix('')}/__init__.py"
            )
        for path in sorted((unit.folder / name).rglob("*.py")):
            faults += _describe_unshipped(path, unit.root)
    faults.refuse()


def _describe_unshipped(path: Path, root: Path) -> Iterator[str]:
    """Describe a module's imports that do not ship, or its syntax error."""
    code = path.read_text(encoding="utf-8")
    try:
        tree = ast.parse(code)
    except SyntaxError as error:
        yield f"{path.relative_to(root)}:{error.lineno}: SyntaxError: {error.msg}"
        return
    for line, module in _imported(tree):
        if not _is_shipped(module.split(".")):
            yield (
                f"{path.relative_to(root)}:{line}: {module} does not ship to students; "
                "import from autograder.checks, autograder.figures, "
                f"{PACKAGE}.library and the unit's own probes and library"
            )


def _imported(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Yield the line and the name of each module that code imports.

    Relative imports within a folder are left out: their modules ship together.
    """
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level > 1:
            yield node.lineno, "." * node.level + (node.module or "")
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names = (
                [alias.name for alias in node.names] if _is_bare(node.module) else []
            )
            yield from (
                (node.lineno, f"{node.module}.{name}".rstrip("."))
                for name in names or [""]
            )


def _is_bare(module: str) -> bool:
    """Guess whether ``from MODULE import name`` imports a package called ``name``."""
    match module.split("."):
        case ["autograder"]:
            return True
        case [package, *rooms] if package == PACKAGE:
            return len(rooms) < 2 and not {*rooms} & {*_SHARED}
    return False


def _is_shipped(parts: list[str]) -> bool:
    """Whether a module, like ["autograder", "checks"], ships or is a third party's."""
    match parts:
        case ["", *_]:
            return False  # a relative import from above
        case ["autograder", room, *_]:
            return room in _OF_THE_ENGINE
        case [package, room, *inner] if package == PACKAGE:
            return room in _SHARED or inner[:1] in ([folder] for folder in _OF_A_UNIT)
    return True
