"""A guard that keeps the warm server from importing code that students do not get.

Student code can read whatever the server has imported. If a unit's module
imports something hidden, such as a solution, only that unit cannot be graded.
"""

from __future__ import annotations

import contextlib
import functools
import importlib.abc
import sys
import traceback
from collections.abc import Iterator
from pathlib import Path

from autograder.root import ENGINE
from autograder.sandbox import kit


@contextlib.contextmanager
def only_shipped_imports() -> Iterator[None]:
    """Refuse imports of engine and course files in a ``with`` block.

    ImportError is raised unless `ships` allows the file.
    """
    guard = _OnlyShipped()
    sys.meta_path.insert(0, guard)
    try:
        yield
    finally:
        sys.meta_path.remove(guard)


def ships(file: Path) -> bool:
    """Return whether the warm server may import a file of the engine or of a course.

    It may import what students get, and the engine's ``sandbox`` folder.
    """
    return any(map(file.is_relative_to, _folders()))


def describe(error: Exception) -> str:
    """Return an import error's message, and where a file that ships has raised it.

    The place, if known, is as in "(course/unit/probes/steps.py, line 3)".
    """
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        path = Path(frame.filename)
        if ships(path) and not path.is_relative_to(ENGINE / "sandbox"):
            place = path.relative_to(_package_of(path).parent)
            return f"{error} ({place}, line {frame.lineno})"
    return str(error)


class _OnlyShipped(importlib.abc.MetaPathFinder):
    """A finder, asked first, that refuses engine and course modules not shipped."""

    def find_spec(self, name: str, *_: object) -> None:
        """Raise ImportError for a module of engine or course that does not ship.

        For every other module, return None, so that Python asks its usual finders.
        """
        first, *inner = name.split(".")
        package = next((path for path in kit.packages() if path.name == first), None)
        if package is None:
            return
        folder = package.joinpath(*inner)
        # A package around something that ships is imported before it.
        around = any(path.is_relative_to(folder) for path in _folders())
        if not around and not any(map(ships, (folder, Path(f"{folder}.py")))):
            raise ImportError(f"{name} does not ship to students")


def _package_of(path: Path) -> Path:
    return next(package for package in kit.packages() if path.is_relative_to(package))


@functools.cache
def _folders() -> tuple[Path, ...]:
    """Return the paths in the student kit, and the engine's ``sandbox`` folder."""
    return (ENGINE / "sandbox", *map(Path, kit.kit_paths()))
