"""The modules by which extras extend the engine, which imports no extra by name.

An extra is a package in ``extras/``, or one that ``extras`` in course.toml
names. It may have these modules:

``commands``: ``COMMANDS``, a `CommandSet`, is added to the command line. Slow
    imports belong inside of functions. Two dicts are optional: ``GRADES`` maps
    formats of ``autograder grades`` to functions that write the grades of a
    `Classbook` into a folder and return remarks. ``SERVICES`` maps the names
    of LMSs that are reached over the network to `Service` objects.

``report``: ``section(book, root)`` returns an `ExtraSection` for the report.

``assignments``: the module is a `Handler`, which scores a cell in assignments
    that are not units.

``lms``: ``LAYOUTS`` lists layouts of an LMS's archives.
"""

from __future__ import annotations

import importlib
import importlib.util
from types import ModuleType

from autograder.root import ENGINE, ROOT, read_settings


def extras() -> list[str]:
    """List the import names of the packages that extend the engine."""
    folders = sorted(path.parent.name for path in ENGINE.glob("extras/*/__init__.py"))
    listed: list[str] = read_settings(ROOT).get("extras", [])
    return [*(f"{ENGINE.name}.extras.{name}" for name in folders), *listed]


def modules(seam: str) -> list[ModuleType]:
    """Import the module ``seam``, such as "report", of each extra that has one."""
    names = [f"{extra}.{seam}" for extra in extras()]
    return [importlib.import_module(name) for name in names if _exists(name)]


def _exists(module: str) -> bool:
    return importlib.util.find_spec(module) is not None
