"""What a notebook imports: ``from autograder import check, demo, drawing, show``.

Its first cell asks ``needs`` whether these are the checks that it needs.
"""

from __future__ import annotations

import importlib

__all__ = ["check", "demo", "drawing", "earlier", "needs", "show", "show_steps"]
__version__ = "1.0.0"

_WHERE = {
    "check": "check", "demo": "demo", "earlier": "earlier", "needs": "installed",
    "drawing": "display", "show": "display", "show_steps": "display",
}  # fmt: skip


def __getattr__(name: str) -> object:
    """Import on first use: nbgrader's commands import this package without torch."""
    if name not in _WHERE:
        raise AttributeError(f"module 'autograder' has no attribute {name!r}")
    module = importlib.import_module(f"autograder.checks.{_WHERE[name]}")
    return getattr(module, name)
