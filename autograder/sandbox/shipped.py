"""Keep the warm server from importing what does not ship to students.

Every sandbox can read what the server has imported. A probe of one unit that imports
too much must fail by itself, and not keep other units from being graded.
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
    """Make imports of what does not ship fail, in a ``with`` block."""
    guard = _OnlyShipped()
    sys.meta_path.insert(0, guard)
    try:
        yield
    finally:
        sys.meta_path.remove(guard)


def ships(file: Path) -> bool:
    """Whether a file of the engine or a course may be imported by the warm server."""
    return any(map(file.is_relative_to, _folders()))


def describe(error: Exception) -> str:
    """Describe an import's error, with the line of a shipped file that raised it."""
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        path = Path(frame.filename)
        if ships(path) and not path.is_relative_to(ENGINE / "sandbox"):
            place = path.relative_to(_package_of(path).parent)
            return f"{error} ({place}, line {frame.lineno})"
    return str(error)


class _OnlyShipped(importlib.abc.MetaPathFinder):
    """An import finder, asked before all others, that refuses what does not ship."""

    def find_spec(self, name: str, *_: object) -> None:
        """Raise ImportError for a module of engine or course that does not ship.

        For all others, and for the engine's ``sandbox``, of which the server itself is
        made, None is returned, so that the usual finders are asked. A package is
        allowed if anything in it ships, because that could not be imported otherwise.
        """
        first, *inner = name.split(".")
        package = next((path for path in kit.packages() if path.name == first), None)
        if package is None:
            return
        folder = package.joinpath(*inner)
        around = any(path.is_relative_to(folder) for path in _folders())
        if not around and not any(map(ships, (folder, Path(f"{folder}.py")))):
            raise ImportError(f"{name} does not ship to students")


def _package_of(path: Path) -> Path:
    return next(package for package in kit.packages() if path.is_relative_to(package))


@functools.cache
def _folders() -> tuple[Path, ...]:
    """The files and folders from which the warm server may import."""
    return (ENGINE / "sandbox", *map(Path, kit.kit_paths()))
