"""A unit's manifest, its ``unit.toml``: all that is special about this unit.

No other part of the engine names a unit. A manifest may contain:

    summary = "what one builds in it"  # for the README's table and the website
    demo = true                # `make demo` shows this unit, if none is named
    path = ["first", "third"]  # the short path: exercises that carry the story
    beyond = ["a_figure"]      # demonstrations that need exercises off the path

    [limits]                   # in place of those in nbgrader_config.py
    timeout = 480              # seconds per cell
    answer_seconds = 120       # seconds for an object that is checked, on one case
    check_seconds = 240        # seconds for such an object, on all cases
    notebook_seconds = 1200

    [handed_in]                # files to hand in with the notebook: our versions
    "my_model.safetensors" = "my_course/UNIT/model.safetensors"

    [ships]                    # files that students get, besides the package
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
# By the name of a table: the keys that it may have, or () for any, and their type.
_TABLES: Mapping[str, tuple[tuple[str, ...], Any]] = {
    "limits": (_LIMITS, int | float),
    "handed_in": ((), str),
    "ships": (("files",), list),
    "keys": ((), list),
}


@dataclass(frozen=True)
class Manifest:
    """The settings of a unit in its ``unit.toml``; all file paths are absolute.

    Attributes:
        path: the exercises of the short path, for students with less time.
        beyond: the demonstrations that also need other exercises.
        limits: limits on grading, by name, such as ``timeout``.
        handed_in: by name, the course's own versions of files that students hand in
            with the notebook.
        ships: files that students get in addition to the package.
        keys: by exercise, earlier exercises whose solutions give its answer away.
    """

    summary: str = ""
    demo: bool = False
    path: tuple[str, ...] = ()
    beyond: tuple[str, ...] = ()
    limits: Mapping[str, float] = field(default_factory=dict)
    handed_in: Mapping[str, Path] = field(default_factory=dict)
    ships: tuple[Path, ...] = ()
    keys: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def files(self) -> tuple[Path, ...]:
        """The files of ``handed_in`` and ``ships``."""
        return (*self.handed_in.values(), *self.ships)


def read(unit: Unit) -> Manifest:
    """Read a unit's manifest; without a unit.toml, it is empty.

    Raises:
        CourseError: the file cannot be read, or contains a mistake.
    """
    path = unit.folder / "unit.toml"
    if not path.is_file():
        return Manifest()
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise CourseError(f"{path}: {error}") from None
    location = str(path.relative_to(unit.root))
    plain = {"summary": str, "demo": bool, "path": list, "beyond": list}
    _check_keys(table, plain | dict.fromkeys(_TABLES, dict), location)
    for name, (allowed, kind) in _TABLES.items():
        section = table.setdefault(name, {})
        kinds = dict.fromkeys(allowed or section, kind)
        _check_keys(section, kinds, f"{location}, [{name}]")
    files = table["ships"].get("files", ())
    return Manifest(
        table.get("summary", ""),
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


def locate_short_path(unit: Unit) -> str:
    """Say which line of a unit's manifest lists the exercises of its short path.

    The short path is the selection for students with little time. The result is like
    "folder/unit.toml:3", relative to the course; the line is 1 if none is listed.
    """
    file = unit.folder / "unit.toml"
    lines = file.read_text(encoding="utf-8").splitlines() if file.is_file() else []
    stated = (i for i, line in enumerate(lines, 1) if re.match(r"path\s*=", line))
    return f"{file.relative_to(unit.root)}:{next(stated, 1)}"


def _check_keys(
    table: Mapping[str, Any], kinds: Mapping[str, Any], location: str
) -> None:
    """Raise CourseError for a key that is unknown or has a value of the wrong type."""
    for name, value in table.items():
        if name not in kinds:
            fault = f"nothing is called {name}; there are {', '.join(kinds)}"
            raise CourseError(f"{location}: {fault}")
        is_odd = isinstance(value, bool) and kinds[name] is not bool  # a bool is an int
        if is_odd or not isinstance(value, kinds[name]):
            raise CourseError(f"{location}: {name} cannot be {value!r}")


def _find_file(unit: Unit, name: str, location: str) -> Path:
    """The path of a file of the course; raises CourseError if there is no such file."""
    path = unit.root / name
    if not path.is_file():
        raise CourseError(f"{location}: there is no file {name} in the course")
    return path


def limits(root: Path = ROOT) -> dict[str, dict[str, float]]:
    """Map units' labels, like "02_attention", to the limits in their manifests.

    Units whose manifest sets no limit are left out.
    """
    by_label = {unit.label: dict(read(unit).limits) for unit in units(root)}
    return {label: of_unit for label, of_unit in by_label.items() if of_unit}
