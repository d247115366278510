"""How long a unit takes: what its first cell says, and what its cells add up to.

The minutes of the exercises, as their texts state them; three for each point of a
question in words; and what is to be read, text and given code, at 200 words a minute.
Hints count as part of their exercises.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from autograder.authoring.notebook import Cell
from autograder.course.errors import CourseError

WORDS_A_MINUTE = 200
MINUTES_A_POINT = 3  # of a question in words
_HEADING = re.compile(r"^### Exercise (\d+\.\d+)", re.MULTILINE)
_MINUTES = re.compile(r"time ~(\d+) min")
_HINT = re.compile(r"<details>.*?</details>", re.DOTALL)
_STATED = re.compile(
    r"About ([\d½]+) hours · short path about ([\d½]+): exercises ([\d., ]+)\b"
)


def exercises(cells: Iterable[Cell]) -> dict[str, int]:
    """The minutes of each exercise, "1.4": 15, as the texts state them.

    Raises:
        CourseError: an exercise states none.
    """
    found = {}
    for cell in cells:
        parts = _HEADING.split(cell.text) if cell.kind == "markdown" else []
        for number, text in zip(parts[1::2], parts[2::2], strict=True):
            stated = _MINUTES.search(text)
            if stated is None:
                raise CourseError(f"{cell.where}: exercise {number} states no time")
            found[number] = int(stated[1])
    return found


def reading(cells: Iterable[Cell]) -> float:
    """Minutes to read a unit's text and given code, without hints and checks."""
    texts = (_HINT.sub(" ", c.text) for c in cells if c.role in ("", "exercise"))
    return sum(len(text.split()) for text in texts) / WORDS_A_MINUTE


def hours(minutes: float) -> str:
    """Minutes as hours and half hours, rounded: "2½"."""
    halves = max(1, round(minutes / 30))
    return f"{halves // 2 or ''}{'½' if halves % 2 else ''}"


def refuse_wrong(cells: list[Cell]) -> None:
    """Refuse a unit whose first cell states another time than its cells add up to.

    Raises:
        CourseError: it states none, another one, or an exercise that there is not.
    """
    head, minutes = cells[0], exercises(cells)
    stated = _STATED.search(" ".join(head.text.split()))
    if stated is None:
        raise CourseError(
            f'{head.where}: the first cell should say "About N hours · short path '
            f'about M: exercises 1.2, 1.5"'
        )
    chosen = re.findall(r"\d+\.\d+", stated[3])
    if unknown := [number for number in chosen if number not in minutes]:
        raise CourseError(f"{head.where}: there is no exercise {unknown[0]}")
    read = reading(cells)
    written = sum(c.points for c in cells if c.role == "written") * MINUTES_A_POINT
    sums = (
        hours(read + written + sum(minutes.values())),
        hours(read + sum(minutes[number] for number in chosen)),
    )
    if stated.groups()[:2] != sums:
        raise CourseError(
            f"{head.where}: the first cell says {stated[1]} and {stated[2]} hours; its "
            f"cells add up to {sums[0]}, and {sums[1]} for the short path"
        )
