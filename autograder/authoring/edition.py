"""Editions of a unit, in which students are given the solutions of some exercises.

Given exercises are not checked; the others share their points, so that the unit
still has 100. The source notebook records which are given, so that later builds
and grading use the same edition.
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

NAMES = ("full", "short")
_NOTE = "# Given: solved already, and without points. Read it, and go on.\n"


def read_given(unit: Unit) -> tuple[str, ...]:
    """Return the exercises whose solutions students are given, as "unit/name"."""
    if not unit.source.is_file():
        return ()
    metadata = notebooks.read(unit.source).metadata
    return tuple(metadata.get(EDITION, {}).get("given", ()))


def read(unit: Unit) -> list[Cell]:
    """Read a unit's cells as they are handed out in ``source/``.

    The edition there may give students some of the solutions. Raises CourseError if
    the notebook or the edition is wrong.
    """
    return apply(unit, notebook.read(unit), read_given(unit))


def select_given(unit: Unit, name: str, queries: Sequence[str] = ()) -> tuple[str, ...]:
    """Select the exercises of an edition whose solutions students are given.

    The edition "full" gives none; "short" gives all that are not essential.

    Args:
        queries: further exercises to give, each as "unit/name", "name" or "5.9".
    """
    if name not in NAMES:
        raise UsageError(f'no edition "{name}"; there are {", ".join(NAMES)}')
    numbered = budget.numbers(notebook.read(unit))
    path = manifest.path_of(unit)
    if name == "short" and not path:
        raise CourseError(f"{unit.label} has no short path: its unit.toml names none")
    off_path = set(numbered) - set(path) if name == "short" else set()
    named = {_find_exercise(query, numbered, unit) for query in queries}
    return tuple(exercise for exercise in numbered if exercise in off_path | named)


def _find_exercise(query: str, numbered: dict[str, str], unit: Unit) -> str:
    """Find an exercise by "unit/name", name or number; return it as "unit/name".

    Args:
        numbered: the number of each exercise, by "unit/name".
    """
    for name, number in numbered.items():
        if query in (name, name.partition("/")[2], number):
            return name
    listed = difflib.get_close_matches(query, numbered, n=3, cutoff=0.5) or numbered
    raise UsageError(f'no exercise "{query}" in {unit.label}; try {", ".join(listed)}')


def apply(
    unit: Unit, cells: Sequence[Cell], given_names: Collection[str]
) -> list[Cell]:
    """Return a unit's cells with some exercises solved, and their points shared out.

    Raises:
        CourseError: no exercise would be left to solve.
    """
    if not given_names:
        return list(cells)
    unsolved = [c for c in cells if c.role == "check" and c.name not in given_names]
    if not unsolved:
        raise CourseError(
            f"all exercises of {unit.label} are given; leave one to solve"
        )
    written_points = sum(cell.points for cell in cells if cell.role == "written")
    shares = scale_points([cell.points for cell in unsolved], 100 - written_points)
    points = dict(zip((cell.name for cell in unsolved), shares, strict=True))
    new_cells = [_mark_given(c) if c.name in given_names else c for c in cells]
    new_cells = [
        replace(c, points=points[c.name]) if c.role == "check" and not c.is_given else c
        for c in _restate_points(new_cells, points)
    ]
    index = budget.outline(new_cells)
    new_cells[index] = _outline(new_cells, new_cells[index], given_names)
    return new_cells


def scale_points(points: Sequence[float], total: float) -> list[float]:
    """Scale points to sum to a total, rounded by the method of largest remainders.

    They are rounded to integers if the total is one, else to hundredths.
    """
    step = Fraction(1) if float(total).is_integer() else Fraction(1, 100)
    units = round(Fraction(total) / step)
    fractions = [Fraction(p) for p in points]
    exact = [p * units / sum(fractions) for p in fractions]
    rounded = [math.floor(share) for share in exact]
    by_remainder = sorted(range(len(exact)), key=lambda i: rounded[i] - exact[i])
    for i in by_remainder[: units - sum(rounded)]:
        rounded[i] += 1
    return [float(count * step) for count in rounded]


def find_giveaways(
    unit: Unit, given_names: Collection[str]
) -> Iterator[tuple[str, str]]:
    """Yield each given exercise with an unsolved one that its solution reveals.

    Both are written "unit/name".
    """
    for name, keys in manifest.read(unit).keys.items():
        unsolved = f"{unit.name}/{name}"
        for key in keys:
            if f"{unit.name}/{key}" in given_names and unsolved not in given_names:
                yield f"{unit.name}/{key}", unsolved


def _mark_given(cell: Cell) -> Cell:
    """Mark a cell as given: the solution is shown, and the check will be left out."""
    code = _NOTE + notebook.without_markers(cell.text)
    text = code if cell.role == "exercise" else cell.text
    return replace(cell, text=text, points=0.0, is_given=True)


def _restate_points(cells: Sequence[Cell], points: dict[str, float]) -> list[Cell]:
    """Rewrite the points that the text before each check states.

    Args:
        points: by exercise; those without an entry are given, and earn none.
    """
    new_cells = list(cells)
    for cell, named in numbers.stated_points(cells):
        if cell.role == "check" and named:
            place, match = named[-1]  # the last one before the check
            stated = cell.words.unpaid
            if cell.name in points:
                stated = cell.words.paid.format(points[cell.name])
            text = match.string[: match.start()] + stated + match.string[match.end() :]
            new_cells[place] = replace(new_cells[place], text=text)
    return new_cells


def _outline(
    cells: Sequence[Cell], outline: Cell, given_names: Collection[str]
) -> Cell:
    """Rewrite the cell that states a unit's time and exercises, for an edition.

    Args:
        given_names: the exercises whose solutions students are given.
    """
    numbered = budget.numbers(cells)
    unsolved = [name for name in numbered if name not in given_names]
    listed = ", ".join(numbered[name] for name in numbered if name in given_names)
    stated = budget.stated_minutes(cells)
    minutes = budget.reading_minutes(cells) + sum(budget.question_minutes(cells))
    minutes += sum(stated[numbered[name]] for name in unsolved)
    words = outline.words
    sentence = words.time(budget.hours(minutes))
    sentence += words.solved.format(exercises=listed)
    text = words.time_pattern.sub(sentence, outline.text)
    text = numbers.with_count(text, len(numbered), len(unsolved), words)
    return replace(outline, text=words.story.sub(words.instead, text))
