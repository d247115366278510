"""Where the parts of a course lie, and the few settings it has."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autograder.course.errors import UsageError, list_present
from autograder.root import CONTENT, PACKAGE, read_settings
from autograder.root import ROOT as ROOT

# jsonschema, and with it nbformat, would take it to check addresses, which no notebook
# has; it builds a parser for that when it is imported: a second of each process.
sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]


@dataclass(frozen=True)
class Unit:
    """One notebook of the course: ``number`` "02", ``name`` "attention"."""

    number: str
    name: str
    root: Path = ROOT

    @property
    def label(self) -> str:
        """The assignment's name, "02_attention"; also its folder and notebook."""
        return f"{self.number}_{self.name}"

    @property
    def original(self) -> Path:
        """The hand-written notebook, of which there may be translations."""
        return self.root / "notebooks" / f"{self.label}.py"

    @property
    def text(self) -> Path:
        """The hand-written notebook that is built: the course's language has its own.

        ``notebooks/de/NN_unit.py`` is the original in German.
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
        """The folder of the course's package."""
        return CONTENT if self.root == ROOT else self.root / PACKAGE

    @property
    def folder(self) -> Path:
        """The folder of all that is its own: manifest, exercises, probes."""
        return self.package / self.name


def units(root: Path = ROOT) -> list[Unit]:
    """All units in teaching order."""
    texts = sorted((root / "notebooks").glob("[0-9][0-9]_*.py"))
    named = (path.stem.partition("_") for path in texts)
    return [Unit(number, name, root) for number, _, name in named]


def find_unit(name: str) -> Unit:
    """The unit called "attention", "02" or "02_attention".

    Raises:
        UsageError: there is no such unit.
    """
    course_units = units()
    for unit in course_units:
        if name in (unit.name, unit.number, unit.label):
            return unit
    listed = list_present([unit.label for unit in course_units])
    raise UsageError(f'there is no unit "{name}"; {listed}')


def graded_notebooks(assignment: str, root: Path) -> dict[str, Path]:
    """The graded notebooks of an assignment in a course folder, by the student's id.

    No other notebook that may lie beside one counts: plain nbgrader copies there
    whatever a student handed in.
    """
    paths = (root / "autograded").glob(f"*/{assignment}/{assignment}.ipynb")
    return {path.parts[-3]: path for path in sorted(paths)}


def settings(root: Path = ROOT) -> dict[str, Any]:
    """What the course's course.toml says."""
    return read_settings(root)


def records_attempts(root: Path = ROOT) -> bool:
    """Whether the course has its checks record students' attempts."""
    return settings(root).get("attempts", False) is True
