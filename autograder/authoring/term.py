"""Start a new term: new hidden references for the same course, and an empty gradebook.

Nothing of the old term is deleted: its hidden references stay in the history of the
repository, and its submissions, grades and secret move to ``terms/``.
"""

from __future__ import annotations

import contextlib
import datetime
import io
import json
import secrets
from collections.abc import Sequence
from pathlib import Path

from tqdm import tqdm

from autograder.authoring import reference_files, references
from autograder.authoring.catalogue import specifications
from autograder.authoring.edition import read
from autograder.authoring.verify import Validity, measure
from autograder.checks.exercise import Exercise
from autograder.checks.references import pack
from autograder.course import Unit
from autograder.course.errors import CourseError
from autograder.course.files import write
from autograder.root import PACKAGE

TRIES = 5  # seeds for a unit, because now and then one lets a mutant pass

# What a term leaves in a course folder; .autograder holds its secret.
RESULTS = ("submitted", "autograded", "feedback", "gradebook.db", ".autograder")


def renew(units: Sequence[Unit]) -> list[Path]:
    """Draw the hidden references of all units anew; return the files that changed.

    Raises:
        CourseError: no seed that was tried for a unit gives valid checks.
    """
    seeds, files = reference_files.seeds(), dict[Path, bytes]()
    for unit in tqdm(units, "new hidden references", unit="unit", disable=None):
        seeds[unit.name], exercises = _find_seed(unit)
        file = reference_files.path(unit, "hidden")
        packed = pack(exercises).items()
        files |= {file.with_suffix(suffix): data for suffix, data in packed}
    changed = [path for path, data in files.items() if write(path, data)]
    write(reference_files.SEEDS, json.dumps(seeds, indent=1, sort_keys=True) + "\n")
    return changed


def _find_seed(unit: Unit) -> tuple[str, list[Exercise]]:
    """Find a secret seed whose hidden cases pass `autograder validity`; return both."""
    cells = read(unit)
    public = references.draw_exercises(unit, cells)
    for _ in range(TRIES):
        seed = secrets.token_hex(16)
        hidden = references.draw_exercises(unit, cells, seed)
        drawings = [{e.name: e for e in exercises} for exercises in (public, hidden)]
        with contextlib.redirect_stdout(io.StringIO()):  # some mutants print
            rows = list(measure(specifications(unit.name), drawings))
        failures = [line for row in rows for line in _failures(row)]
        if not failures:
            return seed, hidden
    raise CourseError(
        f"{failures[0]}, in each of {TRIES} draws; nothing was changed. "
        f"Check the cases in {PACKAGE}/{unit.name}/exercises/"
    )


def _failures(row: Validity) -> list[str]:
    """A line for each failure of an exercise's checks, except misnamed mutants.

    A misnamed mutant is caught, but taken for a different mistake.
    """
    first_lines = [line.splitlines()[0] for line in row.failures]
    return [f"{row.name}: {n}" for n in first_lines if " is named " not in n]


def put_away(root: Path, today: datetime.date) -> Path | None:
    """Move the old term's submissions, grades and secret to ``terms/DATE``.

    Returns:
        The new folder; None if there is nothing to move.
    """
    leftovers = [root / name for name in RESULTS if (root / name).exists()]
    if not leftovers:
        return None
    names = (f"{today}{n}" for n in ("", *(f"-{i}" for i in range(2, 1000))))
    folder = next(p for p in (root / "terms" / n for n in names) if not p.exists())
    folder.mkdir(parents=True)
    for path in leftovers:
        path.rename(folder / path.name)
    return folder
