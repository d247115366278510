"""The contents of each unit's notebook, so that other texts can refer to them.

The build writes them to ``references/contents/UNIT.json``.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from autograder.checks import installed
from autograder.checks.frontend import notebook_name
from autograder.checks.language import _
from autograder.root import REFERENCES

if TYPE_CHECKING:
    from autograder.checks.next_step import Link

_FOLDER = REFERENCES / "contents"


@dataclass(frozen=True)
class ExercisePlace:
    """Where an exercise is in its notebook, and what its answer cell defines.

    ``number`` is like "4.2"; ``cell`` is the id of the cell with its text.
    """

    number: str
    cell: str
    defines: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        return _("Exercise {number}").format(number=self.number)

    @property
    def link(self) -> Link:
        """The exercise's label, as a link that JupyterLab follows to its cell."""
        from autograder.checks.next_step import Link  # not above: it imports torch

        name = quote(notebook_name())
        return Link(self.label, f"{name}#cell-id={self.cell}" if name else "")


@dataclass(frozen=True)
class Contents:
    """The contents of a unit's notebook; ``title`` is like "4 · Encoder and decoder".

    ``places`` says where each exercise is, ``path`` names the essential exercises,
    ``written`` holds the points of each written question, and ``attempts`` says
    whether the course records attempts.
    """

    number: int = 0
    title: str = ""
    places: Mapping[str, ExercisePlace] = field(default_factory=dict)
    path: tuple[str, ...] = ()
    written: tuple[float, ...] = ()
    attempts: bool = False

    def exercise_of(self, defined: str) -> str:
        """The exercise whose answer defines a name; "" if there is none."""
        names = (name for name, p in self.places.items() if defined in p.defines)
        return next(names, "")

    def skips(self, exercise: str) -> bool:
        """Whether the unit has a short path, and it leaves an exercise out."""
        return bool(self.path) and exercise not in self.path


def path_of(unit: str) -> Path:
    """The path of the file with a unit's contents."""
    return _FOLDER / f"{unit}.json"


def pack(contents: Contents) -> str:
    """Serialise a unit's contents, as the text of their file."""
    fields = {n: v for n, v in asdict(contents).items() if n != "attempts" or v}
    return json.dumps(fields, indent=1, ensure_ascii=False) + "\n"


def units() -> list[str]:
    """Return the units with a public reference file, in the order of the course."""
    from autograder.checks.references import units as known_units

    return sorted(known_units(), key=lambda unit: contents_of(unit).number)


def this_unit() -> str:
    """The unit of the notebook that has called `require_checks`; "" if none has."""
    number = installed.asked_for
    matching_units = (unit for unit in units() if contents_of(unit).number == number)
    return next(matching_units, "") if number else ""


@functools.cache  # a kit does not change while it is in use
def contents_of(unit: str) -> Contents:
    """A unit's contents; empty if the unit was built without any."""
    path = path_of(unit)
    if not path.is_file():
        return Contents()
    record: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    places = {
        name: ExercisePlace(place["number"], place["cell"], tuple(place["defines"]))
        for name, place in record["places"].items()
    }
    return Contents(
        record["number"], record["title"], places, tuple(record["path"]),
        tuple(record["written"]), bool(record.get("attempts")),
    )  # fmt: skip
