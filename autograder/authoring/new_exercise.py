"""Create a new exercise: its cells and its file, for the author to fill in.

The skeleton is a working exercise, with a mark wherever the author has
something to write. A unit that contains a mark cannot be built.
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from autograder.authoring import notebook, numbers
from autograder.course import Unit
from autograder.course.errors import CourseError, Faults
from autograder.course.files import write
from autograder.course.language import Wording

MARK = "TODO"
_CELL = re.compile(r"^# %%.*$", re.MULTILINE)
_CODE = re.compile(r"^# %%(?! \[markdown\]).*$", re.MULTILINE)

_TEMPLATES = Path(__file__).parent / "templates"
# Imports for the skeleton's signature, added if the notebook does not have them.
_IMPORTS = {
    "Float": "from jaxtyping import Float",
    "Tensor": "from torch import Tensor",
}


def create(unit: Unit, name: str) -> list[Path]:
    """Add a new exercise's skeleton after a unit's last; return the files written.

    Raises:
        CourseError: the name is invalid or taken; nothing is written.
    """
    if not re.fullmatch(r"[a-z][a-z0-9_]*", name) or keyword.iskeyword(name):
        raise CourseError(
            f'"{name}" cannot be the name of an exercise: it takes lower-case letters, '
            "digits and underscores, like favourite_key"
        )
    cells = notebook.parse_leniently(_text(unit.text), unit, Faults())
    exercise = unit.folder / "exercises" / f"{name}.py"
    if exercise.exists():
        raise CourseError(
            f"{exercise.relative_to(unit.root)} already exists; choose another name"
        )
    if any(cell.name == f"{unit.name}/{name}" for cell in cells):
        raise CourseError(
            f"{unit.text.name} already has an exercise {name}; choose another name"
        )
    count = sum(cell.role == "check" for cell in cells)
    # A unit's points sum to 100, so a further exercise begins with none.
    words = {
        "unit": unit.name,
        "name": name,
        "number": f"{int(unit.number)}.{count + 1}",
        "points": "0" if count else "100",
    }
    files = {
        exercise: _fill_template("exercise.py", words),
        unit.text: _with_cells(_text(unit.text), cells[0].words, count, words),
    }
    return [path for path, text in files.items() if write(path, text)]


def refuse_unfinished(unit: Unit) -> None:
    """Raise a CourseError if a new exercise in a unit is not filled in."""
    if marks := list(_marks(unit)):
        raise CourseError("\n".join(marks))


def _marks(unit: Unit) -> Iterator[str]:
    """Yield file, line and text of each `MARK` in a unit."""
    written = (*sorted(unit.folder.rglob("*.py")), *unit.folder.glob("*.toml"))
    for path in (unit.text, *written):
        for line, text in enumerate(_text(path).splitlines(), 1):
            if MARK in text:
                yield f"{path.relative_to(unit.root)}:{line}: {text.strip(' #')}"


def _fill_template(template: str, words: Mapping[str, str]) -> str:
    return _text(_TEMPLATES / f"{template}.txt").format(**words)


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8") if path.is_file() else ""


def _with_cells(
    text: str, wording: Wording, count: int, words: Mapping[str, str]
) -> str:
    """Insert a new exercise after a notebook's last check; update the stated count.

    Imports that the exercise needs are added to the first code cell.

    Args:
        count: the number of exercises before.
        words: what to fill into the template of the new cells, by field.
    """
    marks = list(_CELL.finditer(text))
    checks = (i for i, mark in enumerate(marks) if ' check="' in mark[0])
    last = max(checks, default=len(marks) - 1)
    end = marks[last + 1].start() if marks[last + 1 :] else len(text)
    code = _CODE.search(text)
    body = code.start() if code else 0
    # Text before the first code may state how many exercises there are.
    head = numbers.with_count(text[:body], count, count + 1, wording)
    above = text[body:end].rstrip("\n")
    missing = [
        line
        for name, line in _IMPORTS.items()
        if not re.search(rf"import .*\b{name}\b", above)
    ]
    if missing:
        first, _, following = above.partition("\n")
        above = "\n".join([first, *missing, following])
    return f"{head}{above}\n\n{_fill_template('cells.py', words)}{text[end:]}"
