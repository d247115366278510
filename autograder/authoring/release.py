"""Generate the release notebook with nbgrader, and refuse one that shows solutions."""

from __future__ import annotations

import ast
import contextlib
import io
import shutil
import tempfile
from pathlib import Path

import nbformat
from traitlets.config.loader import PyFileConfigLoader

from autograder.authoring.notebook import BEGIN, END, Cell
from autograder.checks import display
from autograder.course import Unit
from autograder.course.errors import CourseError, Faults

_SHORTEST_LEAK = 24  # characters; shorter lines may occur anywhere by chance


def generate(unit: Unit, source: str) -> str:
    """Generate the text of a unit's release notebook from its source, with nbgrader."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        path = root / "source" / unit.label / f"{unit.label}.ipynb"
        path.parent.mkdir(parents=True)
        path.write_text(source, encoding="utf-8")
        _run_nbgrader(root, unit)
        released = root / "release" / unit.label / f"{unit.label}.ipynb"
        return _show_opening(unit, released.read_text(encoding="utf-8"))


def _show_opening(unit: Unit, text: str) -> str:
    """Add the output of the first drawing, so that students see it from the start.

    Args:
        text: the JSON of the release notebook.
    """
    notebook = nbformat.reads(text, as_version=4)
    for cell in notebook.cells:
        if cell.cell_type == "code" and (arguments := _drawing_of(cell.source)):
            data = display.drawing_output(unit.package, *arguments)
            cell.outputs = [nbformat.v4.new_output("display_data", data)]
            break
    return str(nbformat.writes(notebook)).rstrip("\n") + "\n"


def _drawing_of(source: str) -> list[str]:
    """The arguments of `drawing`, if a cell does nothing but call it; otherwise []."""
    *imports, last = ast.parse(source).body or [ast.Pass()]
    if not all(isinstance(node, ast.ImportFrom) for node in imports):
        return []
    if not (isinstance(last, ast.Expr) and isinstance(last.value, ast.Call)):
        return []
    is_drawing = ast.unparse(last.value.func) == "drawing"
    return [ast.literal_eval(node) for node in last.value.args] if is_drawing else []


def _run_nbgrader(root: Path, unit: Unit) -> None:
    """Have nbgrader write ``root/release`` from ``root/source``. Raises CourseError."""
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
    """Raise a CourseError if a release shows a hidden test or a line of a solution."""
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
