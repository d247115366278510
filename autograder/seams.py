"""Find the modules by which extras extend the engine, which imports no extra by name.

An extra is a package in ``extras/``, or one that ``extras`` in course.toml names. The
engine uses whichever of these modules the package has:

``commands``: ``COMMANDS``, a `CommandSet`, is added to the command line. ``GRADES``, if
    it is there, has formats for ``autograder grades``: by name, a function that writes
    the grades of a `Classbook` into a folder and returns remarks. ``SERVICES``, if it
    is there, has LMSs that are reached over the network: by name, a `Service`. Every
    command loads this module, so slow imports belong inside of functions.

``report``: ``section(book, root)`` returns an `ExtraSection` for the class report.

``assignments``: the module is a `Handler`, which scores a cell in assignments that are
    not units.

``lms``: ``LAYOUTS`` lists layouts of an LMS's archives, for ``autograder collect``.
"""

from __future__ import annotations

import importlib
import importlib.util
from types import ModuleType

from autograder.root import ENGINE, ROOT, read_settings


def extras() -> list[str]:
    """List the import names of the packages that extend the engine.

    Those in the engine's ``extras/`` come first, by name, and then those that the
    course lists in course.toml.
    """
    folders = sorted(path.parent.name for path in ENGINE.glob("extras/*/__init__.py"))
    listed: list[str] = read_settings(ROOT).get("extras", [])
    return [*(f"{ENGINE.name}.extras.{name}" for name in folders), *listed]


def modules(seam: str) -> list[ModuleType]:
    """Import the module ``seam``, such as "report", of each extra that has one."""
    names = [f"{extra}.{seam}" for extra in extras()]
    return [importlib.import_module(name) for name in names if _exists(name)]


def _exists(module: str) -> bool:
    return importlib.util.find_spec(module) is not None
