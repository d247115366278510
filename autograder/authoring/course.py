"""Build units: either every product of a notebook in notebooks/, or none."""

from __future__ import annotations

import importlib
import logging
import sys
from collections.abc import Sequence
from pathlib import Path

import nbformat

from autograder.authoring import (
    adopt,
    budget,
    contents,
    edition,
    new_exercise,
    notebook,
    numbers,
    probe_files,
    references,
    release,
    shapes,
    solutions,
    translated,
    translations,
)
from autograder.authoring.catalogue import naming_file, specifications
from autograder.authoring.specification import Specification
from autograder.authoring.variants import build_object, namespace, run_source
from autograder.authoring.verify import judge_drawings
from autograder.checks.contents import pack, path_of
from autograder.checks.exercise import Exercise
from autograder.checks.panel import as_text
from autograder.course import Unit, grade_ids, manifest, notebooks
from autograder.course.errors import CourseError
from autograder.course.files import write
from autograder.root import PACKAGE

log = logging.getLogger(__name__)


# The files built from a unit's notebook, by path, and why references changed, or "".
Products = tuple[dict[Path, str | bytes], str]


def products(unit: Unit, given_names: Sequence[str] | None = None) -> Products:
    """Build the products of the unit's notebook, and check what the course promises.

    The solutions' module is written, since the other products are made by running it;
    if the build is refused, the old module is put back.

    Args:
        given_names: the exercises that are given (edition.py); None: those that are
            given in ``source/``.

    Raises:
        CourseError: see the checks in this package; file and line are in the text.
    """
    new_exercise.refuse_unfinished(unit)
    probe_files.refuse_unfit(unit)
    translations.refuse_broken(unit)
    cells = notebook.read(unit)
    translated.refuse_different(unit, cells)
    numbers.refuse_stale(cells)
    shapes.refuse_wrong(cells)
    budget.refuse_wrong(cells, manifest.path_of(unit))
    if given_names is None:
        given_names = edition.read_given(unit)
    edition_cells = edition.apply(unit, cells, given_names)
    source = notebook.to_source(unit, edition_cells)
    module = unit.package / "solutions" / f"{unit.name}.py"
    code = solutions.module_text(unit.label, cells, solutions.names_used_later(unit))
    old = module.read_bytes() if module.is_file() else b""
    write(module, code)
    _reload(unit)
    try:
        return _build_checked(unit, edition_cells, {module: code, unit.source: source})
    except CourseError:
        write(module, old)
        _reload(unit)
        raise


def _build_checked(
    unit: Unit, cells: list[notebook.Cell], files: dict[Path, str | bytes]
) -> Products:
    source = str(files[unit.source])
    built = references.build(unit, cells)
    log.debug("%s: references computed; nbgrader makes the release", unit.label)
    released = release.generate(unit, source)
    release.refuse_leaks(cells, released)
    stubs = _stubs(released)
    for index, exercise in enumerate(specifications(unit.name)):
        if exercise.name not in stubs:  # it is given
            continue
        log.debug("%s: the solution and the stub are scored", exercise.name)
        drawings = [exercises[index] for exercises in built.values()]
        with naming_file(exercise.name):
            refuse_wrong_scores(exercise, drawings, stubs[exercise.name])
    reference_files, reason = references.save(unit, built)
    files |= {adopt.record(unit): adopt.fingerprint(source), unit.release: released}
    files[path_of(unit.name)] = pack(contents.read(unit, cells, source))
    return {**files, **reference_files}, reason


def build(
    unit: Unit, given_names: Sequence[str] | None = None
) -> tuple[list[Path], str]:
    """Write the unit's products; return the changed paths and why references changed.

    Args:
        given_names: as in `products`.

    Raises:
        CourseError: as `products`, or the source notebook was edited by a person, or
            somebody has handed in another edition.
    """
    adopt.refuse_edits(unit, notebook.to_source(unit, edition.read(unit)))
    current = edition.read_given(unit)
    if given_names is not None and set(given_names) != set(current):
        _refuse_handed_in(unit)
    files, reason = products(unit, given_names)
    changed = [path for path, data in files.items() if write(path, data)]
    return changed + translations.install(unit.root), reason


def _refuse_handed_in(unit: Unit) -> None:
    """Refuse to change what is graded once somebody has handed in."""
    if submissions := sorted((unit.root / "submitted").glob(f"*/{unit.label}")):
        raise CourseError(
            f"{len(submissions)} student(s) have handed in {unit.label}; for a new "
            "term run autograder new-term, otherwise remove "
            f"submitted/*/{unit.label} first"
        )


def is_built(unit: Unit) -> bool:
    """Whether the unit's products exist and match its notebook's text."""
    outputs = (unit.release, *(references.path(unit, kind) for kind in _DRAWINGS))
    if not all(path.is_file() for path in (unit.source, *outputs)):
        return False
    source = notebook.to_source(unit, edition.read(unit))
    return notebooks.text_of(unit.source) == source


_DRAWINGS = ("public", "hidden")


def _reload(unit: Unit) -> None:
    importlib.invalidate_caches()
    name = f"{PACKAGE}.solutions.{unit.name}"
    if name in sys.modules:
        importlib.reload(sys.modules[name])


def _stubs(released: str) -> dict[str, str]:
    """The release's stub of each exercise, by the exercise's name."""
    return {
        grade_ids.exercise_of(grade_ids.check_of(mark.grade_id)): cell.source
        for cell in nbformat.reads(released, as_version=4).cells
        if (mark := cell.metadata.get("nbgrader", {})).get("solution")
    }


def refuse_wrong_scores(
    exercise: Specification, drawings: list[Exercise], stub: str
) -> None:
    """Refuse an exercise unless its solution scores all points, and its stub none.

    Raises:
        CourseError: one of the two scores otherwise.
    """
    # A trained model is neither exact nor portable: its reference stands in for it.
    trains = any(kind.measure for kind in exercise.cases)
    names = namespace(exercise)
    solution = build_object(exercise) if trains else exercise.answer_in(names)
    full = judge_drawings(exercise, solution, drawings)
    if not full.passed:
        raise CourseError(
            f"{exercise.name}: the solution does not score all points: {as_text(full)}"
        )
    module = sys.modules[f"{PACKAGE}.solutions.{exercise.unit}"]
    blank = exercise.answer_in(run_source(stub, dict(vars(module)), "<release>"))
    points = judge_drawings(exercise, blank, drawings).points
    if points:
        raise CourseError(
            f"{exercise.name}: the blank release scores {points:g} points"
        )
