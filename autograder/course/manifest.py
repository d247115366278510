"""A unit's manifest, its ``unit.toml``: what differs from the usual.

Nothing else of the course knows a unit by name. A manifest may say

    demo = true                # `make demo` shows this unit, if none is named
    path = ["first", "third"]  # the short path: exercises that carry the story
    beyond = ["a_figure"]      # demonstrations that wait for exercises off the path

    [limits]                   # instead of those in nbgrader_config.py, by their names
    timeout = 480              # seconds a cell
    answer_seconds = 120       # seconds an object that is checked, on one case
    check_seconds = 240        # seconds such an object, on all cases
    notebook_seconds = 1200

    [handed_in]                # beside the notebook: the instructor's own, by the name
    "my_model.safetensors" = "my_course/UNIT/model.safetensors"

    [ships]                    # to students, beside the package
    files = ["assets/model.safetensors"]

    [keys]                     # by exercise: earlier ones whose solution answers it
    sinusoid = ["table_by_loops"]
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from autograder.course import ROOT, Unit, units
from autograder.course.errors import CourseError

_LIMITS = (
    "timeout", "answer_seconds", "check_seconds", "notebook_seconds", "memory_mb",
    "disk_mb",
)  # fmt: skip
# By the name of a table: those that it may hold, or () for any, and their kind.
_TABLES: Mapping[str, tuple[tuple[str, ...], Any]] = {
    "limits": (_LIMITS, int | float),
    "handed_in": ((), str),
    "ships": (("files",), list),
    "keys": ((), list),
}


@dataclass(frozen=True)
class Manifest:
    """How a unit differs from the others; paths are absolute.

    The short path uses nothing outside itself: whoever solves exactly its exercises can
    earn all their points, and all demonstrations run except those of ``beyond``. A key
    of an exercise is an earlier exercise whose solution answers it. When that exercise
    is tried again, the course's version of a key stands in for the student's only if
    the student has solved most of the key.
    """

    demo: bool = False
    path: tuple[str, ...] = ()
    beyond: tuple[str, ...] = ()
    limits: Mapping[str, float] = field(default_factory=dict)
    handed_in: Mapping[str, Path] = field(default_factory=dict)
    ships: tuple[Path, ...] = ()
    keys: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def files(self) -> tuple[Path, ...]:
        """All files that it names."""
        return (*self.handed_in.values(), *self.ships)


def read(unit: Unit) -> Manifest:
    """The manifest of a unit; one that has none needs nothing of its own.

    Raises:
        CourseError: it cannot be read, has an unknown key, or names a file that does
            not exist.
    """
    path = unit.folder / "unit.toml"
    if not path.is_file():
        return Manifest()
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise CourseError(f"{path}: {error}") from None
    location = str(path.relative_to(unit.root))
    plain = {"demo": bool, "path": list, "beyond": list}
    _check_keys(table, plain | dict.fromkeys(_TABLES, dict), location)
    for name, (allowed, kind) in _TABLES.items():
        section = table.setdefault(name, {})
        kinds = dict.fromkeys(allowed or section, kind)
        _check_keys(section, kinds, f"{location}, [{name}]")
    files = table["ships"].get("files", ())
    return Manifest(
        table.get("demo", False),
        tuple(table.get("path", ())),
        tuple(table.get("beyond", ())),
        table["limits"],
        {n: _find_file(unit, file, location) for n, file in table["handed_in"].items()},
        tuple(_find_file(unit, file, location) for file in files),
        {name: tuple(earlier) for name, earlier in table["keys"].items()},
    )


def path_of(unit: Unit) -> tuple[str, ...]:
    """The exercises of a unit's short path, "unit/name"; none if it has no path."""
    return tuple(f"{unit.name}/{name}" for name in read(unit).path)


def place_of_path(unit: Unit) -> str:
    """The file and line in which a unit's manifest states the short path."""
    file = unit.folder / "unit.toml"
    lines = file.read_text(encoding="utf-8").splitlines() if file.is_file() else []
    stated = (i for i, line in enumerate(lines, 1) if re.match(r"path\s*=", line))
    return f"{file.relative_to(unit.root)}:{next(stated, 1)}"


def _check_keys(
    table: Mapping[str, Any], kinds: Mapping[str, Any], location: str
) -> None:
    """Raise CourseError for a key that is unknown or has a value of another type."""
    for name, value in table.items():
        if name not in kinds:
            listed = ", ".join(kinds)
            raise CourseError(
                f"{location}: nothing is called {name}; there are {listed}"
            )
        # TOML's true is a number to Python.
        if not isinstance(value, kinds[name]) or (
            isinstance(value, bool) and kinds[name] is not bool
        ):
            raise CourseError(f"{location}: {name} cannot be {value!r}")


def _find_file(unit: Unit, name: str, location: str) -> Path:
    """The path of a file of the course. Raises CourseError if there is none."""
    path = unit.root / name
    if not path.is_file():
        raise CourseError(f"{location}: there is no file {name} in the course")
    return path


def limits(root: Path = ROOT) -> dict[str, dict[str, float]]:
    """The limits of all units that set some of their own, by the unit's label."""
    by_label = {unit.label: dict(read(unit).limits) for unit in units(root)}
    return {
        label: unit_limits for label, unit_limits in by_label.items() if unit_limits
    }
