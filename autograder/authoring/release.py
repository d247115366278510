"""Make the release notebook with nbgrader's `generate_assignment`, and inspect it."""

from __future__ import annotations

import contextlib
import io
import shutil
import tempfile
from pathlib import Path

import nbformat
from traitlets.config.loader import PyFileConfigLoader

from autograder.authoring.notebook import BEGIN, END, Cell
from autograder.course import Unit
from autograder.course.errors import CourseError, Faults

_SHORTEST_LEAK = 24  # characters; shorter lines occur in anybody's code


def generate(unit: Unit, source: str) -> str:
    """Generate the release notebook's text.

    Raises:
        CourseError: nbgrader refuses, or part of a solution is left in the release.
    """
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        path = root / "source" / unit.label / f"{unit.label}.ipynb"
        path.parent.mkdir(parents=True)
        path.write_text(source, encoding="utf-8")
        _run_nbgrader(root, unit)
        released = root / "release" / unit.label / f"{unit.label}.ipynb"
        return released.read_text(encoding="utf-8").rstrip("\n") + "\n"


def _run_nbgrader(root: Path, unit: Unit) -> None:
    from nbgrader.apps import NbGraderAPI

    shutil.copy(unit.root / "nbgrader_config.py", root)
    log = io.StringIO()
    with contextlib.redirect_stderr(log), contextlib.redirect_stdout(log):
        config = PyFileConfigLoader("nbgrader_config.py", str(root)).load_config()
        config.CourseDirectory.root = str(root)
        config.CourseDirectory.db_url = f"sqlite:///{root / 'gradebook.db'}"
        api = NbGraderAPI(config=config)
        result = api.generate_assignment(unit.label, force=True, create=True)
    if not result["success"]:
        report = f"{log.getvalue()}{result.get('log', '')}{result.get('error', '')}"
        place = unit.text.relative_to(unit.root)
        raise CourseError(f"{place}:1: nbgrader cannot release it:\n{report}")


def refuse_leaks(cells: list[Cell], release: str) -> None:
    """Refuse a release that holds a hidden test or a line of a solution.

    Raises:
        CourseError: with the file and line of each solution that leaks.
    """
    notebook = nbformat.reads(release, as_version=4)
    given_texts = {cell.text for cell in cells if cell.is_given}
    texts = [cell.source for cell in notebook.cells if cell.source not in given_texts]
    text, faults = "\n".join(texts), Faults()
    if "check.hidden" in text or "BEGIN " in text:
        faults.append(
            f"{cells[0].location}: the release contains a hidden test or a marker"
        )
    for cell in cells:
        faults += [
            f"{cell.location}: the release shows a line of the solution: {line}"
            for line in solution_lines(cell)
            if line in text
        ]
    faults.refuse()


def solution_lines(cell: Cell) -> list[str]:
    """The lines between solution markers that are long enough to be recognised."""
    lines, inside = [], False
    for line in map(str.strip, cell.text.splitlines()):
        if line in (BEGIN, END):
            inside = line == BEGIN
        elif inside and len(line) >= _SHORTEST_LEAK:
            lines.append(line)
    return lines
