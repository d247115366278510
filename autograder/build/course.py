"""Build units: every product of notebooks/, whole or not at all."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import nbformat

from autograder.bank import evaluate
from autograder.build import notebook, references, release, solutions
from autograder.course import Unit
from autograder.errors import CourseError
from autograder.student.exercise import Exercise
from autograder.student.references import FOLDER


def products(unit: Unit) -> dict[Path, str | bytes]:
    """What the unit's notebook builds to, by path; checked as the course promises.

    Raises:
        CourseError: see the checks in this package; file and line are in the text.
    """
    cells = notebook.read(unit)
    source = notebook.to_source(unit, cells)
    module = unit.root / "autograder" / "solutions" / f"{unit.name}.py"
    code = solutions.module_text(unit.label, cells)
    notebook.write(module, code)
    _reload(unit)
    built = references.build(unit, cells)
    released = release.generate(unit, source)
    release.refuse_leaks(cells, released)
    _refuse_wrong_scores(unit, built, released)
    files = references.save(unit, built)
    return {
        module: code,
        unit.source: source,
        unit.release: released,
        **{FOLDER / kind / f"{unit.name}.safetensors": f for kind, f in files.items()},
    }


def build(unit: Unit) -> list[Path]:
    """Write the unit's products; the paths that changed."""
    return [path for path, data in products(unit).items() if notebook.write(path, data)]


def _reload(unit: Unit) -> None:
    importlib.invalidate_caches()
    name = f"autograder.solutions.{unit.name}"
    if name in sys.modules:
        importlib.reload(sys.modules[name])


def _refuse_wrong_scores(
    unit: Unit, built: dict[str, list[Exercise]], released: str
) -> None:
    """The solution must score every point, and the blank release none."""
    stubs = {
        cell.metadata.nbgrader.grade_id: cell.source
        for cell in nbformat.reads(released, as_version=4).cells
        if "nbgrader" in cell.metadata and cell.metadata.nbgrader.solution
    }
    for index, task in enumerate(evaluate.tasks(unit.name)):
        drawings = [exercises[index] for exercises in built.values()]
        full = evaluate.verdict(task, evaluate.build_object(task), drawings)
        if not full.passed:
            raise CourseError(f"{unit.text.name}: its solution fails {full}")
        module = sys.modules[f"autograder.solutions.{unit.name}"]
        stub = stubs[task.name.replace("/", "-") + "-answer"]
        blank = evaluate.run_source(stub, dict(vars(module)), "<release>")
        if evaluate.verdict(task, blank[task.target], drawings).points:
            raise CourseError(f"{unit.text.name}: the blank {task.name} scores points")
