"""Old names of a course's modules, for notebooks that began with an earlier version.

``[aliases]`` in course.toml lists them: an old name, with all below it, stands for a
module of today.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Mapping
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

from autograder.root import ALIASES


class AliasFinder(MetaPathFinder, Loader):
    """Imports today's module under its old name: both names are one module."""

    def __init__(self, aliases: Mapping[str, str]) -> None:
        self._aliases = aliases

    def find_spec(self, name: str, *_: object) -> ModuleSpec | None:
        """Find a module by its old name; None for any other name."""
        return ModuleSpec(name, self) if self._todays_name(name) else None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """Import the module that the old name stands for, and save its specification.

        Python replaces the specification by that of the old name; `exec_module`
        restores it.
        """
        module = importlib.import_module(self._todays_name(spec.name))
        spec.loader_state = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Execute nothing again, and restore the module's own specification."""
        assert module.__spec__
        module.__spec__ = module.__spec__.loader_state

    def _todays_name(self, name: str) -> str:
        for old, new in self._aliases.items():
            if name == old or name.startswith(f"{old}."):
                return new + name.removeprefix(old)
        return ""


def install() -> None:
    """Install the finder, so that the course's old names can be imported.

    The finder comes first: a module of today has a path, in which Python's own finder
    would find what is below it a second time.
    """
    if ALIASES:
        sys.meta_path.insert(0, AliasFinder(ALIASES))
