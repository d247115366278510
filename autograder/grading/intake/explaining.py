"""Say in words which notebook of a hand-in is graded, or why none can be.

A notebook is said to be of the assignment with which it shares most grade ids.
"""

from __future__ import annotations

import contextlib
import functools
import json
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from autograder.grading.intake.common import Repair, join_names

GradeIds = Mapping[str, Collection[str]]  # of an assignment's cells, by its name
_DAMAGED = (OSError, ValueError, LookupError, TypeError, AttributeError)
_CONFLICT = re.compile(rb"^<{7} ", re.MULTILINE)  # git's, in the middle of the JSON


def why_none(
    files: Collection[str],
    candidates: Sequence[str],
    broken: Sequence[str],
    strange: Mapping[str, Collection[str]],
    course_ids: Callable[[], GradeIds],
) -> str:
    """Say why none of the files is the unit's notebook.

    Args:
        candidates: the files that look like notebooks.
        broken: the reasons why some of them cannot be read.
        strange: maps the path of each readable notebook to the grade ids in it.
        course_ids: reads the grade ids of the course's assignments.
    """
    if broken:
        return f"the notebook cannot be read: {broken[0]}"
    ids_by_assignment = course_ids() if strange else {}
    for path, ids in strange.items():
        if whose := owner(ids, ids_by_assignment):
            return f'"{join_names([path])}" is {whose}, not this unit\'s'
    if candidates:
        return f"no notebook of this unit is among the files: {join_names(candidates)}"
    scripts = [path for path in files if path.lower().endswith(".py")]
    wanted = f'; hand in the .ipynb, not "{join_names(scripts[:1])}"' if scripts else ""
    return f"there is no notebook in the submission{wanted}"


def about_choice(best: str, name: str, paths: Sequence[str]) -> Iterator[Repair]:
    """Say which notebook was chosen, if it was renamed or one of several.

    ``best`` is the path that was chosen, and ``name`` the one that it should have.
    """
    if best != name:
        yield Repair("renamed", f'"{join_names([best])}" was taken as "{name}".')
    ignored = [path for path in paths if path != best]
    if ignored:
        choice = f'Of several notebooks, "{join_names([best])}" was graded'
        yield Repair("several notebooks", f"{choice}, not {join_names(ignored)}.")


def about_damage(path: str, data: bytes, count: int) -> str:
    """Say what is damaged behind the first ``count`` cells of a notebook."""
    first = f"after its first {count} cells; only those count"
    if _CONFLICT.search(data):
        return (
            f'"{join_names([path])}" has a merge conflict (<<<<<<<) {first}. '
            "Resolve it and hand it in again."
        )
    return f'"{join_names([path])}" is damaged {first}. Hand it in again.'


def grade_ids(root: Path) -> GradeIds:
    """Map each assignment of the course at ``root`` to its grade ids."""
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
    """Describe the assignment that shares most grade ids with ``ids``; "" if none does.

    The text is like "unit 2's notebook (02_attention)".
    """
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
    """Return whether the grade ids in a notebook are those of another assignment.

    Args:
        unit_ids: the grade ids of this unit.
        recognised: how many graded cells of this unit seem to be in the notebook.
    """
    marks = {*ids} - {""}
    if marks & {*unit_ids}:
        return False
    return len(marks) > recognised and bool(owner(marks, assignments()))
