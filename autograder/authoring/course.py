"""Build units: every product of notebooks/, whole or not at all."""

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
    solutions,
    translations,
)
from autograder.authoring.catalogue import naming_file, specifications
from autograder.authoring.specification import Specification
from autograder.authoring.variants import build_object, namespace, run_source
from autograder.authoring.verify import verdict
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


def products(unit: Unit, given: Sequence[str] | None = None) -> Products:
    """What the unit's notebook builds to, checked as the course promises.

    The solutions' module is written, since the rest is made by running it; a refused
    build puts the old one back.

    Args:
        given: the exercises that are given (edition.py); None: as ``source/`` has it.

    Raises:
        CourseError: see the checks in this package; file and line are in the text.
    """
    new_exercise.refuse_unfinished(unit)
    probe_files.refuse_unfit(unit)
    translations.refuse_broken(unit)
    cells = notebook.read(unit)
    numbers.refuse_stale(cells)
    budget.refuse_wrong(cells, manifest.path_of(unit))
    shown = edition.of(unit, cells, edition.recorded(unit) if given is None else given)
    source = notebook.to_source(unit, shown)
    module = unit.package / "solutions" / f"{unit.name}.py"
    code = solutions.module_text(unit.label, cells, solutions.used_later(unit))
    old = module.read_bytes() if module.is_file() else b""
    write(module, code)
    _reload(unit)
    try:
        return _checked(unit, shown, {module: code, unit.source: source})
    except CourseError:
        write(module, old)
        _reload(unit)
        raise


def _checked(
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
    kept, why = references.save(unit, built)
    files |= {adopt.record(unit): adopt.fingerprint(source), unit.release: released}
    files[path_of(unit.name)] = pack(contents.read(unit, cells, source))
    return {**files, **kept}, why


def build(unit: Unit, given: Sequence[str] | None = None) -> tuple[list[Path], str]:
    """Write the unit's products; the paths that changed, and why references did.

    Args:
        given: as in `products`.

    Raises:
        CourseError: as `products`, or the source notebook was edited by a person, or
            somebody has handed in another edition.
    """
    adopt.refuse_edits(unit, notebook.to_source(unit, edition.read(unit)))
    if given is not None and set(given) != set(edition.recorded(unit)):
        _refuse_handed_in(unit)
    files, why = products(unit, given)
    changed = [path for path, data in files.items() if write(path, data)]
    return changed + translations.install(unit.root), why


def _refuse_handed_in(unit: Unit) -> None:
    """An edition says what is graded, so it stays once somebody has handed in."""
    if there := sorted((unit.root / "submitted").glob(f"*/{unit.label}")):
        raise CourseError(
            f"{len(there)} student(s) have handed in {unit.label}; for a new term run "
            f"autograder new-term, otherwise remove submitted/*/{unit.label} first"
        )


def is_built(unit: Unit) -> bool:
    """Whether the unit's products are there, and are those of its notebook's text."""
    made = (unit.release, *(references.path(unit, kind) for kind in _DRAWINGS))
    if not all(path.is_file() for path in (unit.source, *made)):
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
    """The solution must score every point, and the released stub none.

    Raises:
        CourseError: one of them does not.
    """
    # A trained model is neither exact nor portable: its reference stands in for it.
    trains = any(kind.measure for kind in exercise.cases)
    names = namespace(exercise)
    own = build_object(exercise) if trains else exercise.answer_in(names)
    full = verdict(exercise, own, drawings)
    if not full.passed:
        raise CourseError(
            f"{exercise.name}: the solution does not score all points: {as_text(full)}"
        )
    module = sys.modules[f"{PACKAGE}.solutions.{exercise.unit}"]
    blank = exercise.answer_in(run_source(stub, dict(vars(module)), "<release>"))
    points = verdict(exercise, blank, drawings).points
    if points:
        raise CourseError(
            f"{exercise.name}: the blank release scores {points:g} points"
        )
