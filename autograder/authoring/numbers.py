"""Check the points and counts that a notebook's text states against its cells."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from autograder.authoring.notebook import Cell
from autograder.course.errors import CourseError, Faults
from autograder.course.language import Wording

TITLE = re.compile(r"^# (.+)$", re.MULTILINE)  # of a notebook, in its first cell


def refuse_stale(cells: Sequence[Cell]) -> None:
    """Raise a CourseError if a unit's text states wrong points or counts."""
    if stale := [*_points(cells), *_counts(cells)]:
        raise CourseError("\n".join(stale))


def _points(cells: Sequence[Cell]) -> Iterator[str]:
    """Describe each graded cell whose points differ from those that its text states.

    For a check, the last points stated before it count; for a question, any.
    """
    for cell, named in stated_points(cells):
        claims = named if cell.role == "written" else named[-1:]
        if claims and cell.points not in [float(match[1]) for _, match in claims]:
            index, match = claims[0]
            yield (
                f"{cells[index].locate(match.start())}: the text says "
                f"{float(match[1]):g} points; {cell.name} has {cell.points:g}: change "
                "one of them"
            )


def stated_points(
    cells: Sequence[Cell],
) -> Iterator[tuple[Cell, list[tuple[int, re.Match[str]]]]]:
    """Yield each graded cell, with the points stated in the text cells before it.

    A statement is the index of the text cell, and the match in its text. What precedes
    all code is left out, since it may speak of points in general.
    """
    named, first = list[tuple[int, re.Match[str]]](), head_size(cells)
    for index, cell in enumerate(cells[first:], first):
        if cell.role in ("check", "written"):
            yield cell, named
            named = []
        elif cell.kind == "markdown":
            named += ((index, f) for f in cell.words.points_pattern.finditer(cell.text))


def _counts(cells: Sequence[Cell]) -> Iterator[str]:
    """Describe wrong counts of exercises or questions in the text before any code."""
    for cell in cells[: head_size(cells)]:
        for role, pattern in cell.words.count_patterns.items():
            count = sum(counted.role == role for counted in cells)
            for match in pattern.finditer(cell.text):
                stated = _number(match[1], cell.words)
                if stated is not None and stated != count:
                    text = " ".join(match[0].split())
                    line = cell.locate(match.start())
                    yield f'{line}: the text says "{text}"; it has {count}: mend that'


def refuse_untitled(cells: Sequence[Cell]) -> None:
    """Raise a CourseError if a notebook or one of its exercises has no title."""
    faults, titles_by_name = Faults(), titles(cells)
    first, label = cells[0], Path(cells[0].location.rpartition(":")[0]).stem
    number, _, name = label.partition("_")
    if first.kind != "markdown" or not TITLE.search(first.text):
        title = f"# {number} · {name.replace('_', ' ').capitalize()}"
        faults.append(
            f'{first.location}: the first cell has no title; begin it with "{title}"'
        )
    exercises = (cell for cell in cells if cell.role == "exercise")
    for index, cell in enumerate(exercises, 1):
        # It is None without a check, which is a fault of its own.
        if titles_by_name.get(cell.name) == "":
            heading = f"### {cell.words.exercise} {number.lstrip('0')}.{index} - Title"
            faults.append(
                f"{cell.location}: no heading above exercise {cell.name}; "
                f'write "{heading}" into the text before it'
            )
    faults.refuse()


def titles(cells: Sequence[Cell]) -> dict[str, str]:
    """Map each exercise to its title, from the heading above its check.

    It is "" if there is no such heading.
    """
    by_name, title = {}, ""
    for cell in cells:
        if cell.kind == "markdown":
            title = [title, *cell.words.title_pattern.findall(cell.text)][-1]
        elif cell.role == "check":
            by_name[cell.name], title = title, ""
    return by_name


def head_size(cells: Sequence[Cell]) -> int:
    """The number of cells before the first code cell that is not folded."""
    is_code = [cell.kind == "code" and not cell.folded for cell in cells]
    return is_code.index(True) if True in is_code else len(cells)


def with_count(text: str, old: int, new: int, words: Wording) -> str:
    """Change the number of exercises that a text states from ``old`` to ``new``."""

    def restate(match: re.Match[str]) -> str:
        is_count = _number(match[1], words) == old
        noun = words.singular if new == 1 else words.plural
        return f"{new} {noun}" if is_count else match[0]

    return words.count_patterns["check"].sub(restate, text)


def _number(word: str, words: Wording) -> int | None:
    """Parse a number in digits, or in words of the notebook's language; else None."""
    if word.isdigit():
        return int(word)
    numerals, word = words.numerals, word.lower()
    return numerals.index(word) if word in numerals else None
