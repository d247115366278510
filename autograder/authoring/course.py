"""Build units: write all files that are made from a notebook in notebooks/, or none."""

from __future__ import annotations

import importlib
import logging
import sys
import traceback
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import nbformat

from autograder.authoring import (
    adopt,
    budget,
    contents,
    edition,
    last_build,
    new_exercise,
    notebook,
    numbers,
    probe_files,
    reference_files,
    release,
    shapes,
    solutions,
    translated,
    translations,
)
from autograder.authoring.last_build import Build, digest_files
from autograder.checks.contents import pack, path_of
from autograder.course import Unit, grade_ids, manifest, notebooks
from autograder.course.errors import CourseError, Faults
from autograder.course.files import write
from autograder.root import PACKAGE

log = logging.getLogger(__name__)


# The files built from a unit's notebook, by path, and why references changed, or "".
Products = tuple[dict[Path, str | bytes], str]


def make_files(
    unit: Unit, given_names: Sequence[str] | None = None, last: Build | None = None
) -> Products:
    """Make all files that are built from a unit's notebook, and check the unit.

    The solutions' module is also written, since the rest is made by running it; if
    the build fails, the old one is put back.

    Args:
        given_names: the exercises whose solutions students get; None for no change.
        last: an earlier build, whose references may be kept; None draws all anew.

    Returns:
        The files' contents by path; and why references changed, or "".

    Raises:
        CourseError: with file and line of every fault.
    """
    faults = Faults()
    cells = _read_checked(unit, faults)
    if given_names is None:
        given_names = edition.read_given(unit)
    edition_cells = edition.apply(unit, cells, given_names)
    source = notebook.to_source(unit, edition_cells)
    module, code = _solutions(unit, cells)
    old = module.read_bytes() if module.is_file() else None
    write(module, code)
    files: dict[Path, str | bytes] = {module: code, unit.source: source}
    try:
        with faults.collect():
            _reload_refused(unit, cells)
            files, reason = _build_checked(unit, edition_cells, files, last or Build())
        faults.refuse()
    except BaseException:  # also if a person interrupts the build
        if old is None:
            module.unlink()
        else:
            write(module, old)
            _reload(unit)
        raise
    return files, reason


def _read_checked(unit: Unit, faults: Faults) -> list[notebook.Cell]:
    """Read a unit's cells; add faults in its text and files to ``faults``.

    Raises:
        CourseError: the cells cannot be built; it lists all faults.
    """
    for refuse in (
        new_exercise.refuse_unfinished,
        probe_files.refuse_unfit,
        translations.refuse_broken,
    ):
        with faults.collect():
            refuse(unit)
    # With these faults, the cells cannot be built; `faults` are reported later.
    unreadable = Faults()
    text = unit.text.read_text(encoding="utf-8")
    cells = notebook.parse_leniently(text, unit, unreadable)
    for refuse_cells in (solutions.refuse_unreadable, shapes.refuse_wrong):
        with unreadable.collect():
            refuse_cells(cells)
    with faults.collect():
        translated.refuse_different(unit, cells)
    for refuse_cells in (notebook.refuse_wrong_sum, numbers.refuse_stale):
        with faults.collect():
            refuse_cells(cells)
    with unreadable.collect():
        numbers.refuse_untitled(cells)
        with faults.collect():
            place = manifest.locate_short_path(unit)
            budget.refuse_wrong(cells, manifest.path_of(unit), place)
    if unreadable:
        Faults([*unreadable, *faults]).refuse()
    return cells


def _build_checked(
    unit: Unit, cells: list[notebook.Cell], files: dict[Path, str | bytes], last: Build
) -> Products:
    """Add the release, its contents, references and the build record to ``files``.

    Returns and raises the same as `make_files`.
    """
    source = str(files[unit.source])
    released, faults = release.generate(unit, source), Faults()
    with faults.collect():
        release.refuse_leaks(cells, released)
    stubs, seed = _stubs(released), reference_files.seed_of(unit)
    build = Build(
        adopt.fingerprint(source),
        digest_files(reference_files.read(unit)),
        last_build.describe_exercises(unit, cells, stubs, seed),
    )
    redrawn, reason = dict[Path, bytes](), ""
    if not build.has_references_of(last):
        from autograder.authoring.redrawing import redraw  # here: prose needs no torch

        log.debug("%s: the release is made; now its references", unit.label)
        unchanged = build.unchanged_since(last)
        with faults.collect():
            redrawn, reason = redraw(unit, cells, stubs, unchanged)
        build = replace(build, references=digest_files(redrawn))
    faults.refuse()
    files |= {last_build.record(unit): str(build), unit.release: released}
    files[path_of(unit.name)] = pack(contents.read(unit, cells, source))
    return {**files, **redrawn}, reason


def build(
    unit: Unit, given_names: Sequence[str] | None = None
) -> tuple[list[Path], str]:
    """Write the files built from a unit; ``given_names`` is as for `make_files`.

    Returns:
        The paths of changed files; and why references changed, or "".

    Raises:
        CourseError: faults, an edit that would be lost, or a submission that would
            no longer fit.
    """
    # If the text has faults, there is none, and `make_files` reports them.
    if source := _read_source(unit):
        adopt.refuse_edits(unit, source)
    current = edition.read_given(unit)
    if given_names is not None and set(given_names) != set(current):
        _refuse_handed_in(unit)
    files, reason = make_files(unit, given_names, last_build.read(unit))
    return [path for path, data in files.items() if write(path, data)], reason


def changes_solutions(unit: Unit) -> bool:
    """Whether a build would change a unit's solutions, which later units import.

    A build of a unit whose text has faults changes nothing.
    """
    try:
        module, code = _solutions(unit, notebook.read(unit))
    except (CourseError, SyntaxError):
        return False
    return not module.is_file() or module.read_text(encoding="utf-8") != code


def _solutions(unit: Unit, cells: list[notebook.Cell]) -> tuple[Path, str]:
    """The path and the text of the module of a unit's solutions."""
    later = solutions.names_used_later(unit)
    module = unit.package / "solutions" / f"{unit.name}.py"
    return module, solutions.module_text(unit.label, cells, later)


def _read_source(unit: Unit) -> str:
    """Generate the source notebook from a unit's text; "" if the text has faults."""
    try:
        return notebook.to_source(unit, edition.read(unit))
    except CourseError:
        return ""


def _refuse_handed_in(unit: Unit) -> None:
    """Refuse to change the edition of a unit that a student has handed in."""
    if submissions := sorted((unit.root / "submitted").glob(f"*/{unit.label}")):
        raise CourseError(
            f"{len(submissions)} hand-in(s) of {unit.label} are in submitted/; for a "
            "new term run autograder new-term, otherwise move "
            f"submitted/*/{unit.label} out of the course first"
        )


def is_built(unit: Unit) -> bool:
    """Whether the files built from a unit exist, and match the text of its notebook."""
    outputs = (
        unit.release,
        *(reference_files.path(unit, v) for v in reference_files.VISIBILITIES),
    )
    if not all(path.is_file() for path in (unit.source, *outputs)):
        return False
    source = notebook.to_source(unit, edition.read(unit))
    return notebooks.text_of(unit.source) == source


def _reload(unit: Unit) -> None:
    """Execute the solutions' module again, if it has been imported before."""
    importlib.invalidate_caches()
    name = f"{PACKAGE}.solutions.{unit.name}"
    if name in sys.modules:
        importlib.reload(sys.modules[name])


def _reload_refused(unit: Unit, cells: list[notebook.Cell]) -> None:
    """Import or reload the solutions' module; blame an error on a notebook's cell."""
    try:
        _reload(unit)
        importlib.import_module(f"{PACKAGE}.solutions.{unit.name}")
    except Exception as error:
        log.debug("%s: it was:", unit.label, exc_info=error)
        # The module's lines come from the cells, so the cell that fails holds this one.
        line = traceback.extract_tb(error.__traceback__)[-1].line or ""
        places = (c.locate(c.text.find(line)) for c in cells if line in c.text)
        raise CourseError(
            f"{next(places, unit.label)}: {type(error).__name__}: {error}. Solutions "
            "see the notebook's imports, functions and classes"
        ) from error


def _stubs(released: str) -> dict[str, str]:
    """Map exercises and written questions, by name, to what students complete."""
    return {
        grade_ids.exercise_of(grade_ids.check_of(mark.grade_id)): cell.source
        for cell in nbformat.reads(released, as_version=4).cells
        if (mark := cell.metadata.get("nbgrader", {})).get("solution")
    }
