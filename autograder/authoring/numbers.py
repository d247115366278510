"""Numbers in a notebook's text that its cells prove right or stale."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from autograder.authoring.notebook import Cell
from autograder.course.errors import CourseError
from autograder.course.language import wording


def refuse_stale(cells: Sequence[Cell]) -> None:
    """See that headings name the points of their cells, and the head counts them right.

    The points of a check are the last that the text names before it; those of a written
    answer, whose rubric names others, are among them. The unit's head is the text
    before the first code.

    Raises:
        CourseError: with file and line of each number that is not true.
    """
    if stale := [*_points(cells), *_counts(cells)]:
        raise CourseError("\n".join(stale))


def _points(cells: Sequence[Cell]) -> Iterator[str]:
    for cell, named in stated(cells):
        said = named if cell.role == "written" else named[-1:]
        if said and cell.points not in [float(found[1]) for _, found in said]:
            place, found = said[0]
            yield (
                f"{_line(cells[place], found)}: the text says {float(found[1]):g} "
                f"points; {cell.name} has {cell.points:g}"
            )


def stated(
    cells: Sequence[Cell],
) -> Iterator[tuple[Cell, list[tuple[int, re.Match[str]]]]]:
    """Each graded cell, and the points that texts name before it, by their cells."""
    named, first = list[tuple[int, re.Match[str]]](), head_size(cells)
    for place, cell in enumerate(cells[first:], first):
        if cell.role in ("check", "written"):
            yield cell, named
            named = []
        elif cell.kind == "markdown":
            named += ((place, f) for f in wording().worth.finditer(cell.text))


def _counts(cells: Sequence[Cell]) -> Iterator[str]:
    for cell in cells[: head_size(cells)]:
        for role, pattern in wording().counts.items():
            true = sum(one.role == role for one in cells)
            for found in pattern.finditer(cell.text):
                said = _number(found[1])
                if said is not None and said != true:
                    text = " ".join(found[0].split())
                    yield f'{_line(cell, found)}: the text says "{text}"; it has {true}'


def head_size(cells: Sequence[Cell]) -> int:
    """How many cells stand before the first code."""
    kinds = [cell.kind for cell in cells]
    return kinds.index("code") if "code" in kinds else len(kinds)


def with_count(text: str, old: int, new: int) -> str:
    """A head that counts ``old`` exercises, counting ``new`` ones."""

    def told(found: re.Match[str]) -> str:
        is_count = _number(found[1]) == old
        what = words.singular if new == 1 else words.plural
        return f"{new} {what}" if is_count else found[0]

    words = wording()
    return words.counts["check"].sub(told, text)


def _number(word: str) -> int | None:
    if word.isdigit():
        return int(word)
    words = wording().numerals
    return words.index(word.lower()) if word.lower() in words else None


def _line(cell: Cell, found: re.Match[str]) -> str:
    name, _, first = cell.where.rpartition(":")
    return f"{name}:{int(first) + 1 + cell.text.count(chr(10), 0, found.start())}"
