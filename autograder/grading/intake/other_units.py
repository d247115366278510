"""Find the assignment to which a notebook belongs, by the grade ids of its cells."""

from __future__ import annotations

import contextlib
import functools
import json
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any

GradeIds = Mapping[str, Collection[str]]  # of an assignment's cells, by its name
_DAMAGED = (OSError, ValueError, LookupError, TypeError, AttributeError)


def grade_ids(root: Path) -> GradeIds:
    """The grade ids of all assignments of the course at ``root``."""
    ids_by_assignment: dict[str, frozenset[str]] = {}
    for path in sorted(root.glob("source/*/*.ipynb")):
        with contextlib.suppress(*_DAMAGED):
            ids = _grade_ids(path, path.stat().st_mtime_ns)
            before = ids_by_assignment.get(path.parent.name, frozenset())
            ids_by_assignment[path.parent.name] = before | ids
    return ids_by_assignment


@functools.lru_cache
def _grade_ids(path: Path, _changed: int) -> frozenset[str]:
    """The grade ids in a notebook file; cached until the file changes."""
    cells: list[dict[str, Any]] = json.loads(path.read_bytes())["cells"]
    marks = (cell["metadata"].get("nbgrader", {}) for cell in cells)
    return frozenset(str(mark["grade_id"]) for mark in marks if "grade_id" in mark)


def owner(ids: Collection[str], assignments: GradeIds) -> str:
    """Describe the assignment with most of these ids in words; "" if none has any."""
    shared = {
        label: len({*ids} & {*assignment_ids})
        for label, assignment_ids in assignments.items()
    }
    label = max(shared, key=lambda name: shared[name], default="")
    if not shared.get(label):
        return ""
    number, _, name = label.partition("_")
    if number.isdecimal() and name:
        return f"unit {int(number)}'s notebook ({label})"
    return f"the notebook of {label}"


def is_other_units(
    ids: Collection[str], unit_ids: Collection[str], recognised: int,
    assignments: Callable[[], GradeIds],
) -> bool:  # fmt: skip
    """Whether a notebook has the grade ids of another unit, and none of this one.

    It may still define a name that one of this unit's answers has.

    Args:
        unit_ids: the grade ids of this unit.
        recognised: how many of its graded cells were found in the notebook.
    """
    marks = {*ids} - {""}
    if marks & {*unit_ids}:
        return False
    return len(marks) > recognised and bool(owner(marks, assignments()))
