"""Old names of a course's modules, for notebooks made with an earlier version.

``[aliases]`` in course.toml maps each old name of a module to its current name.
A submodule can also be imported under the old name of its package.
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
    """A finder and loader that makes a current module importable under its old name.

    Both names stand for the same module object.
    """

    def __init__(self, aliases: Mapping[str, str]) -> None:
        self._aliases = aliases

    def find_spec(self, name: str, *_: object) -> ModuleSpec | None:
        """Return a specification for an old name; None for any other name."""
        return ModuleSpec(name, self) if self._todays_name(name) else None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """Import and return the current module that an old name stands for.

        Python will overwrite its ``__spec__``, which ``spec.loader_state`` keeps.
        """
        module = importlib.import_module(self._todays_name(spec.name))
        spec.loader_state = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Restore the module's own ``__spec__``, without executing its code again."""
        assert module.__spec__
        module.__spec__ = module.__spec__.loader_state

    def _todays_name(self, name: str) -> str:
        for old, new in self._aliases.items():
            if name == old or name.startswith(f"{old}."):
                return new + name.removeprefix(old)
        return ""


def install() -> None:
    """Make the old names of the course's modules importable.

    Python's own finders come later, as they would load a submodule a second time.
    """
    if ALIASES:
        sys.meta_path.insert(0, AliasFinder(ALIASES))
