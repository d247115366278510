"""An edition of a unit: some exercises are given, and the others share their points.

A given exercise is solved in the notebook, says so, and has no check. Checks and
questions that are left sum to 100: questions in words keep their points, which their
rubrics divide. The source notebook records what is given, so that a later build, the
release and grading all have the same edition: points are what the cells say.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction

from autograder.authoring import budget, notebook, numbers
from autograder.authoring.notebook import EDITION, Cell
from autograder.course import Unit, manifest, notebooks
from autograder.course.errors import CourseError, UsageError
from autograder.course.language import wording

NAMES = ("full", "short")
_NOTE = "# Given: solved already, and without points. Read it, and go on.\n"


def recorded(unit: Unit) -> tuple[str, ...]:
    """The exercises that are given in the edition that ``source/`` holds."""
    if not unit.source.is_file():
        return ()
    metadata = notebooks.read(unit.source).metadata
    return tuple(metadata.get(EDITION, {}).get("given", ()))


def read(unit: Unit) -> list[Cell]:
    """The cells of a unit in the edition that ``source/`` holds; raises as `of`."""
    return of(unit, notebook.read(unit), recorded(unit))


def chosen(unit: Unit, name: str, given: Sequence[str] = ()) -> tuple[str, ...]:
    """The exercises that an edition gives: "full" none, "short" those off the path.

    Args:
        given: more of them, as "unit/name", "name" or "5.9".

    Raises:
        CourseError: there is no such edition, exercise, or short path.
    """
    if name not in NAMES:
        raise UsageError(f'no edition "{name}"; there are {", ".join(NAMES)}')
    numbered = budget.numbers(notebook.read(unit))
    path = manifest.path_of(unit)
    if name == "short" and not path:
        raise CourseError(f"{unit.label} has no short path: its unit.toml names none")
    off_path = set(numbered) - set(path) if name == "short" else set()
    named = {_named(one, numbered, unit) for one in given}
    return tuple(one for one in numbered if one in off_path | named)


def _named(told: str, numbered: dict[str, str], unit: Unit) -> str:
    for name, number in numbered.items():
        if told in (name, name.partition("/")[2], number):
            return name
    listed = difflib.get_close_matches(told, numbered, n=3, cutoff=0.5) or numbered
    raise UsageError(f'no exercise "{told}" in {unit.label}; try {", ".join(listed)}')


def of(unit: Unit, cells: Sequence[Cell], given: Collection[str]) -> list[Cell]:
    """A unit's cells with some exercises given; all as they were if none is.

    Raises:
        CourseError: none would be left to solve.
    """
    if not given:
        return list(cells)
    asked = [c for c in cells if c.role == "check" and c.name not in given]
    if not asked:
        raise CourseError(
            f"all exercises of {unit.label} are given; leave one to solve"
        )
    kept = sum(cell.points for cell in cells if cell.role == "written")
    shares = scaled([cell.points for cell in asked], 100 - kept)
    points = dict(zip((cell.name for cell in asked), shares, strict=True))
    made = [_given(c) if c.name in given else c for c in cells]
    made = [
        replace(c, points=points[c.name]) if c.role == "check" and not c.given else c
        for c in _retold(made, points)
    ]
    index = budget.outline(made)
    made[index] = _outline(made, made[index], given)
    return made


def scaled(points: Sequence[float], total: float) -> list[float]:
    """Points in the same proportions that sum to a total, by largest remainders.

    They are whole if the total is, else hundredths.
    """
    step = Fraction(1) if float(total).is_integer() else Fraction(1, 100)
    units = round(Fraction(total) / step)
    known = [Fraction(p) for p in points]
    exact = [p * units / sum(known) for p in known]
    whole = [math.floor(share) for share in exact]
    by_remainder = sorted(range(len(exact)), key=lambda i: whole[i] - exact[i])
    for i in by_remainder[: units - sum(whole)]:
        whole[i] += 1
    return [float(count * step) for count in whole]


def gives_away(unit: Unit, given: Collection[str]) -> Iterator[tuple[str, str]]:
    """Given exercises whose solution answers one that is not, and that one."""
    for name, keys in manifest.read(unit).keys.items():
        asked = f"{unit.name}/{name}"
        for key in keys:
            if f"{unit.name}/{key}" in given and asked not in given:
                yield f"{unit.name}/{key}", asked


def _given(cell: Cell) -> Cell:
    """A cell of a given exercise: the solution, or a check that will not be there."""
    code = _NOTE + notebook.without_markers(cell.text)
    text = code if cell.role == "exercise" else cell.text
    return replace(cell, text=text, points=0.0, given=True)


def _retold(cells: Sequence[Cell], points: dict[str, float]) -> list[Cell]:
    """The cells with new points in the texts before their checks."""
    told = list(cells)
    for cell, named in numbers.stated(cells):
        if cell.role == "check" and named:
            place, found = named[-1]
            new = wording().unpaid
            if cell.name in points:
                new = wording().paid.format(points[cell.name])
            text = found.string[: found.start()] + new + found.string[found.end() :]
            told[place] = replace(told[place], text=text)
    return told


def _outline(cells: Sequence[Cell], outline: Cell, given: Collection[str]) -> Cell:
    """The cell that tells what there is to do and how long it takes."""
    numbered = budget.numbers(cells)
    asked = [name for name in numbered if name not in given]
    listed = ", ".join(numbered[name] for name in numbered if name in given)
    stated = budget.exercises(cells)
    minutes = budget.reading(cells) + sum(budget.written(cells))
    minutes += sum(stated[numbered[name]] for name in asked)
    words = wording()
    said = words.time(budget.hours(minutes))
    said += words.solved.format(exercises=listed)
    text = words.stated.sub(said, outline.text)
    text = numbers.with_count(text, len(numbered), len(asked))
    return replace(outline, text=words.story.sub(words.instead, text))
