"""What a notebook imports: ``from autograder import check, demo, drawing, show``.

A notebook's first code cell calls ``require_checks``, which raises an error if the
installed checks are too old.
"""

from __future__ import annotations

import importlib

from autograder import aliases

__all__ = [
    "check", "demo", "drawing", "earlier", "needs", "require_checks",
    "require_solved", "show", "show_steps",
]  # fmt: skip
__version__ = "1.0.0"

_WHERE = {
    "check": "check", "earlier": "earlier",
    "demo": "demo", "require_solved": "demo",
    "needs": "installed", "require_checks": "installed",
    "drawing": "display", "show": "display", "show_steps": "display",
}  # fmt: skip

aliases.install()


def __getattr__(name: str) -> object:
    """Return an exported object; its module is imported only now.

    Thus nbgrader's commands need not import PyTorch.
    """
    if name not in _WHERE:
        raise AttributeError(f"module 'autograder' has no attribute {name!r}")
    module = importlib.import_module(f"autograder.checks.{_WHERE[name]}")
    return getattr(module, name)
