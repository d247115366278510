"""The units of a course, the paths of their files, and the course's settings."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autograder.course.errors import UsageError, list_present
from autograder.root import CONTENT, PACKAGE, read_settings
from autograder.root import ROOT as ROOT

# jsonschema, which nbformat imports, would use this module to validate URLs, which no
# notebook contains. Building its parser at import would take a second in each process.
sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]


@dataclass(frozen=True)
class Unit:
    """One notebook of the course: ``number`` "02", ``name`` "attention"."""

    number: str
    name: str
    root: Path = ROOT

    @property
    def label(self) -> str:
        """The name of the assignment, its folder and its notebook: "02_attention"."""
        return f"{self.number}_{self.name}"

    @property
    def original(self) -> Path:
        """The hand-written notebook, of which there may be translations."""
        return self.root / "notebooks" / f"{self.label}.py"

    @property
    def text(self) -> Path:
        """The hand-written notebook that is built: a translation, or the original.

        A German translation is ``notebooks/de/NN_unit.py``.
        """
        language = str(settings(self.root).get("language", ""))
        translation = self.original.parent / language / self.original.name
        return translation if translation.is_file() else self.original

    @property
    def source(self) -> Path:
        """The instructor's notebook, with solutions and hidden tests."""
        return self.root / "source" / self.label / f"{self.label}.ipynb"

    @property
    def release(self) -> Path:
        """The students' notebook."""
        return self.root / "release" / self.label / f"{self.label}.ipynb"

    @property
    def package(self) -> Path:
        """The folder of the course's Python package."""
        return CONTENT if self.root == ROOT else self.root / PACKAGE

    @property
    def folder(self) -> Path:
        """The unit's folder in the course's package: manifest, exercises and probes.

        A probe is code of the course that calls a student's function to check it.
        """
        return self.package / self.name


def units(root: Path = ROOT) -> list[Unit]:
    """All units in teaching order."""
    texts = sorted((root / "notebooks").glob("[0-9][0-9]_*.py"))
    named = (path.stem.partition("_") for path in texts)
    return [Unit(number, name, root) for number, _, name in named]


def is_called(label: str, name: str) -> bool:
    """Return whether a name like "attention", "02" or "2" refers to a unit's label."""
    return not {name, name.zfill(2)}.isdisjoint({label, *label.split("_", 1)})


def find_unit(name: str) -> Unit:
    """The unit called "attention", "02", "2" or "02_attention".

    Raises:
        UsageError: there is no such unit.
    """
    course_units = units()
    for unit in course_units:
        if is_called(unit.label, name):
            return unit
    listed = list_present([unit.label for unit in course_units])
    raise UsageError(f'there is no unit "{name}"; {listed}')


def graded_notebooks(assignment: str, root: Path) -> dict[str, Path]:
    """Map each student's id to the graded notebook of an assignment."""
    paths = (root / "autograded").glob(f"*/{assignment}/{assignment}.ipynb")
    return {path.parts[-3]: path for path in sorted(paths)}


def settings(root: Path = ROOT) -> dict[str, Any]:
    """Read the settings of the course from course.toml."""
    return read_settings(root)


def records_attempts(root: Path = ROOT) -> bool:
    """Whether the checks of this course record students' attempts."""
    return settings(root).get("attempts", False) is True
