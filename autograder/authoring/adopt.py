"""Detect edits made in a built source notebook, and copy them to ``notebooks/``.

``source/NN_unit.built`` begins with a fingerprint of the source notebook as it
was last built. It tells whether a person has edited the notebook since.
"""

from __future__ import annotations

import copy
import hashlib
import json
from collections.abc import Iterator
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any

import jupytext
import nbformat
from nbformat import NotebookNode

from autograder.authoring import last_build, notebook
from autograder.course import Unit, grade_ids, notebooks
from autograder.course.errors import CourseError
from autograder.course.files import write

# Metadata keys that JupyterLab and Colab add to cells.
_NOISE = {
    "collapsed", "execution", "id", "jupyter", "scrolled", "trusted", "ExecuteTime",
}  # fmt: skip
_GENERATED = slice(1, 3)  # cells that the build adds: the badge, and loading the checks


def fingerprint(source: str) -> str:
    """Hash what a person can edit in a notebook, given as JSON text.

    Outputs, the cells' ids and the kernel do not count.
    """
    content = _content(nbformat.reads(source, as_version=4))
    return hashlib.sha256(json.dumps(content).encode()).hexdigest() + "\n"


def _content(book: NotebookNode) -> list[list[Any]]:
    """List what a person can edit in each cell: type, text, metadata, attachments."""
    return [
        [
            cell.cell_type,
            cell.source,
            {k: v for k, v in sorted(cell.metadata.items()) if k not in _NOISE},
            cell.get("attachments", {}),
        ]
        for cell in book.cells
    ]


def refuse_edits(unit: Unit, source: str) -> None:
    """Raise a CourseError if a person has edited a source notebook since it was built.

    Args:
        source: the JSON that the build would write in its place.
    """
    if not unit.source.is_file():
        return
    current = fingerprint(notebooks.read_valid_text(unit.source))
    # An edit that the build would write as well is not lost.
    if current not in (last_build.read(unit).source, fingerprint(source)):
        raise CourseError(
            f"{_relative_path(unit.source, unit)} was edited since it was built, and a "
            "build would lose the edit. To bring it into notebooks/: autograder adopt "
            f"{unit.number}"
        )


def _relative_path(path: Path, unit: Unit) -> str:
    return str(path.relative_to(unit.root))


def adopt(unit: Unit) -> bool:
    """Copy a source notebook's edits to ``notebooks/``; return whether it had any.

    Raises:
        CourseError: an edit cannot be copied; nothing is written.
    """
    text_path, source_path = (
        _relative_path(path, unit) for path in (unit.text, unit.source)
    )
    text = unit.text.read_text(encoding="utf-8")
    built = notebook.to_source(unit, notebook.read(unit))
    edited = notebooks.read_valid_text(unit.source)
    if notebook.EDITION in notebooks.parse(edited, unit.source).metadata:
        raise CourseError(
            f"{source_path} is an edition with given exercises. Bring edits to "
            f"{text_path} by hand, remove {unit.source.name} and build that edition "
            "again"
        )
    if fingerprint(edited) in (fingerprint(built), last_build.read(unit).source):
        return False
    if fingerprint(built) != last_build.read(unit).source:
        raise CourseError(
            f"both {text_path} and {source_path} have changed since the last build. "
            "Set the first one's changes aside (git stash), adopt, and bring them back "
            "(git stash pop)"
        )
    new = _merge(unit, text, nbformat.reads(built, as_version=4), edited)
    try:
        rebuilt = notebook.to_source(unit, notebook.parse(new, unit))
    except CourseError as error:
        raise CourseError(
            f"cannot adopt {source_path}; mend this there first. With the edit, {error}"
        ) from error
    if fingerprint(rebuilt) != fingerprint(edited):
        raise CourseError(
            f"cannot adopt {source_path}: its text changes when it is written to "
            f"{unit.text.name}; bring the edit over by hand"
        )
    return write(unit.text, new)


def _merge(unit: Unit, text: str, built: NotebookNode, edited: str) -> str:
    """Return the text of ``notebooks/`` with the edits of a source notebook.

    Args:
        text: the unit's text in ``notebooks/`` before.
        built: the source notebook that a build makes from ``text``.
        edited: the edited source notebook, as JSON.
    """
    written = jupytext.reads(text, fmt="py:percent")
    if _write(written) != text:
        raise CourseError(
            f"{_relative_path(unit.text, unit)} is not formatted as Jupytext writes "
            "it; open and save it as a notebook once, then adopt"
        )
    old = _content(built)
    book = nbformat.reads(edited, as_version=4)
    new = _content(book)
    if new[_GENERATED] != old[_GENERATED]:
        raise CourseError(
            f"{_relative_path(unit.source, unit)}: the two cells below the title "
            "(badge, kit) are written by the build; restore them"
        )
    # notebooks/ does not have these cells: now the indices agree with its own.
    for generated in (old, new, book.cells):
        del generated[_GENERATED]
    cells = []
    for before, after in _pair_cells(old, new):
        cell, original, is_same = book.cells[after], None, False
        if before is not None:
            original = written.cells[before]
            is_same = old[before] == new[after]
        # An unchanged cell stays as it is in notebooks/, to the letter.
        cells.append(original if is_same else _cell(cell, original, unit))
    written.cells = cells
    return _write(written)


def _pair_cells(
    old: list[list[Any]], new: list[list[Any]]
) -> Iterator[tuple[int | None, int]]:
    """Pair each cell of an edited notebook with the old cell that it replaces.

    Yields (old index, new index); the old one is None for an inserted cell.
    """
    old_texts, new_texts = (
        [json.dumps(cell) for cell in cells] for cells in (old, new)
    )
    matcher = SequenceMatcher(None, old_texts, new_texts, autojunk=False)
    # Old cells i to i_end are, or are replaced by, new cells j to j_end.
    for _, i, i_end, j, j_end in matcher.get_opcodes():
        for offset in range(j_end - j):
            yield (i + offset if i + offset < i_end else None), j + offset


def _cell(
    cell: NotebookNode, original: NotebookNode | None, unit: Unit
) -> NotebookNode:
    """Convert an edited cell of the source notebook to a cell of ``notebooks/``.

    Args:
        original: the cell that it replaces; None if it was inserted.
    """
    location = f'{_relative_path(unit.source, unit)}: the cell "{cell.source[:40]}"'
    # The metadata of a folded cell, without what JupyterLab itself may change.
    folding = {key: v for key, v in notebook.FOLDED.items() if key not in _NOISE}
    folded = folding.items() <= dict(cell.metadata).items()
    allowed = {"nbgrader", *(folding if folded else ())}
    unknown = set(cell.metadata) - _NOISE - allowed
    if unknown or cell.get("attachments") or cell.cell_type == "raw":
        unsupported = ", ".join(sorted(unknown)) or "an attachment, or raw text"
        raise CourseError(f"{location} has what notebooks/ cannot hold: {unsupported}")
    # Jupytext notes the blank lines around a cell in its metadata: keep them.
    spacing = (
        original.metadata if original and original.cell_type == cell.cell_type else {}
    )
    role = _role(cell.metadata.get("nbgrader"), location)
    adopted = copy.deepcopy(cell)
    if role.get("check"):
        # Without the hidden part, which the build adds.
        adopted.source = adopted.source.partition(f"\n{notebook.BEGIN_HIDDEN}")[0]
    adopted.metadata = nbformat.from_dict(
        {k: v for k, v in spacing.items() if k in notebook.SPACING}
    )
    adopted.metadata.update(role)
    if folded:
        adopted.metadata["folded"] = True
    return adopted


def _role(grading: NotebookNode | None, location: str) -> dict[str, Any]:
    """Convert a cell's nbgrader metadata to metadata of ``notebooks/``.

    The result is like ``{"check": "unit/name", "points": 5}``; {} for ungraded cells.
    """
    if not grading or not (grading.get("grade") or grading.get("solution")):
        if grading and (grading.get("locked") or grading.get("task")):
            raise CourseError(
                f"{location} is read-only or a task; this course has none"
            )
        return {}
    if not grading.get("grade"):
        check = grade_ids.check_of(grading.grade_id)
        return {"exercise": grade_ids.exercise_of(check)}
    name = grade_ids.exercise_of(grading.grade_id)
    role = "written" if grading.get("solution") else "check"
    points = float(grading.points)
    return {role: name, "points": int(points) if points.is_integer() else points}


def _write(book: NotebookNode) -> str:
    """Format a notebook as the text that JupyterLab saves (notebooks/jupytext.toml)."""
    book = copy.deepcopy(book)
    filters = {
        "notebook_metadata_filter": "-all",
        "cell_metadata_filter": ",".join([*notebook.ROLES, "points", "folded", "-all"]),
    }
    book.metadata = nbformat.from_dict({"jupytext": filters})
    text: str = jupytext.writes(book, fmt="py:percent")
    return text
