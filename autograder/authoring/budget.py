"""How long a unit takes: computed from its cells, and compared with its outline.

The time is the sum of the minutes stated for exercises and questions, and of
the time to read. The outline is the cell that tells students how long it takes.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence

from autograder.authoring.notebook import BEGIN, END, Cell
from autograder.authoring.numbers import head_size
from autograder.course.errors import Faults
from autograder.course.language import Wording

WORDS_A_MINUTE = 130
LINES_A_MINUTE = 20  # of code that is given
MINUTES_A_POINT = 3  # of a written question whose text states no time
# The formula for an exercise: time to read the task twice, to think and to type. Its
# coefficients were fitted to separate estimates of 102 exercises, and keep their sum.
READINGS = 2
MINUTES_A_LEVEL = 3.5  # of difficulty
MINUTES_A_LINE = 0.55  # of the solution
_SECTION = re.compile(r"^## ", re.MULTILINE)
_DOCSTRING = re.compile(r'"""(.*?)"""', re.DOTALL)
_SOLUTION = re.compile(f"{BEGIN}(.*?){END}", re.DOTALL)
_HINT = re.compile(r"<details>.*?</details>", re.DOTALL)


def stated_minutes(cells: Iterable[Cell]) -> dict[str, int]:
    """Return the minutes stated for each exercise, by its number: {"1.4": 15}."""
    minutes, faults = {}, Faults()
    for cell in cells:
        if cell.kind != "markdown":
            continue
        words = cell.words
        headings = list(words.heading_pattern.finditer(cell.text))
        ends = [*(heading.start() for heading in headings), len(cell.text)]
        for heading, end in zip(headings, ends[1:], strict=True):
            if stated := words.minutes_pattern.search(cell.text, heading.end(), end):
                minutes[heading[1]] = int(stated[1])
            else:
                faults.append(
                    f"{cell.locate(heading.start())}: exercise {heading[1]} states no "
                    f'time; write "{words.minutes.format("15")}" below this'
                )
    faults.refuse()
    return minutes


def estimate(cells: Iterable[Cell]) -> dict[str, int]:
    """Estimate the minutes for each exercise, in steps of five, by its number."""
    minutes: dict[str, int] = {}
    number = text = ""  # of the last heading of an exercise
    for cell in cells:
        headings = list(cell.words.heading_pattern.finditer(cell.text))
        if cell.kind == "markdown" and headings:
            number, text = headings[-1][1], cell.text[headings[-1].start() :]
        elif cell.role == "exercise":
            minutes[number] = _estimate_exercise(text, cell.text, cell.words)
    return minutes


def _estimate_exercise(text: str, code: str, wording: Wording) -> int:
    """Estimate one exercise's minutes from its words, difficulty and lines of solution.

    Args:
        text: the exercise's text, from its heading on.
        code: its cell, with the solution between markers.
    """
    hints = re.compile(rf"<summary>{wording.hint}.*?</details>", re.DOTALL)
    level = re.search(rf"{wording.difficulty} (\d)/5", text)
    words = len(hints.sub(" ", text).split())
    words += sum(len(docstring.split()) for docstring in _DOCSTRING.findall(code))
    solved = "\n".join(_SOLUTION.findall(code))
    minutes = (
        READINGS * words / WORDS_A_MINUTE
        + MINUTES_A_LEVEL * int(level[1] if level else 0)
        + MINUTES_A_LINE * sum(bool(line.strip()) for line in solved.splitlines())
    )
    return max(5, 5 * round(minutes / 5))


def numbers(cells: Iterable[Cell]) -> dict[str, str]:
    """Map each exercise's name to the number in its heading, such as "1.4"."""
    by_name, number = {}, ""
    for cell in cells:
        if cell.kind == "markdown" and (
            headings := cell.words.heading_pattern.findall(cell.text)
        ):
            number = headings[-1]
        elif cell.role == "exercise":
            by_name[cell.name] = number
    return by_name


def reading_minutes(cells: Iterable[Cell]) -> float:
    """Minutes to read text and given code, without hints, checks and folded cells."""
    minutes = 0.0
    for cell in (cell for cell in cells if not cell.folded):
        if cell.kind == "markdown" and not cell.role:
            minutes += len(_HINT.sub(" ", cell.text).split()) / WORDS_A_MINUTE
        elif not cell.role or cell.is_given:
            lines = [line for line in cell.text.splitlines() if line.strip()]
            minutes += len(lines) / LINES_A_MINUTE
    return minutes


def total_minutes(cells: Sequence[Cell], chosen: Collection[str]) -> float:
    """Return the minutes to solve some exercises, and to read the text they need.

    Args:
        chosen: the exercises to solve, as "unit/name".
    """
    sections: list[list[Cell]] = [[]]  # the first holds what precedes all headings
    for cell in cells:
        if cell.kind == "markdown" and _SECTION.search(cell.text):
            sections.append([])
        sections[-1].append(cell)
    stated, numbered, minutes = stated_minutes(cells), numbers(cells), 0.0
    for section in sections:
        names = [cell.name for cell in section if cell.role == "exercise"]
        solved = [name for name in names if name in chosen]
        minutes += sum(stated[numbered[name]] for name in solved)
        # A section none of whose exercises is chosen need not be read.
        if solved or not names:
            minutes += reading_minutes(section)
    return minutes


def question_minutes(cells: Iterable[Cell]) -> Iterator[float]:
    """The minutes of each written question, in the order of the cells."""
    stated: list[str] = []
    for cell in cells:
        if cell.role == "written":
            yield int(stated[-1]) if stated else cell.points * MINUTES_A_POINT
        # A time stated before an exercise or a question is not for a later one.
        if cell.role:
            stated = []
        elif cell.kind == "markdown":
            stated += cell.words.minutes_pattern.findall(cell.text)


def hours(minutes: float) -> str:
    """Format minutes as hours, rounded to half hours: "2½"."""
    halves = max(1, round(minutes / 30))
    return f"{halves // 2 or ''}{'½' if halves % 2 else ''}"


def refuse_wrong(cells: Sequence[Cell], path: Sequence[str], place: str) -> None:
    """Raise a CourseError if a unit's stated time or its short path is wrong.

    The short path lists the essential exercises.

    Args:
        path: the exercises of the short path, as "unit/name"; may be empty.
        place: the file and line that state the path.
    """
    minutes, numbered, faults = stated_minutes(cells), numbers(cells), Faults()
    for name in path:
        if name not in numbered:
            faults.append(f"{place}: there is no exercise {name}; take it out")
    faults.refuse()
    spent = sum(minutes[numbered[name]] for name in path)
    if 2 * spent > sum(minutes.values()):
        faults.append(
            f"{place}: its exercises take {spent} minutes; a short path "
            f"takes at most half of {sum(minutes.values())}"
        )
    total_time = hours(total_minutes(cells, numbered) + sum(question_minutes(cells)))
    head = cells[outline(cells)]
    correct_text = head.words.time(total_time)
    if path:
        listed = ", ".join(numbered[name] for name in path)
        time = hours(total_minutes(cells, path))
        correct_text += head.words.short.format(hours=time, exercises=listed)
    stated = head.words.time_pattern.search(head.text)
    if stated is None or " ".join(stated[0].split()) != correct_text:
        line = head.locate(stated.start() if stated else 0)
        faults.append(f'{line}: this should say "{correct_text}"')
    faults.refuse()


def stated_time(cells: Sequence[Cell]) -> str:
    """The time that a unit's outline states, "about 3 hours"; "" if it states none."""
    head = cells[outline(cells)]
    stated = head.words.time_pattern.search(head.text)
    return stated[0].partition(" · ")[0].lower() if stated else ""


def outline(cells: Sequence[Cell]) -> int:
    """Return the index of the cell that states a unit's time, or else of the title."""
    for index in range(head_size(cells)):
        if cells[index].words.time_pattern.search(cells[index].text):
            return index
    return 0
