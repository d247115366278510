"""A new exercise: its cells, its probe, its file and its contract, ready to fill in.

The skeleton is an exercise that works, in whose texts stands `MARK` wherever an author
has something to say. A unit with such a mark in it is not built.
"""

from __future__ import annotations

import ast
import keyword
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from autograder.authoring import notebook, numbers
from autograder.course import Unit
from autograder.course.errors import CourseError
from autograder.course.files import write

MARK = "TODO"
_CELL = re.compile(r"^# %%.*$", re.MULTILINE)
_CODE = re.compile(r"^# %%(?! \[markdown\]).*$", re.MULTILINE)

_CELLS = '''\
# %% [markdown]
# ### Exercise {number} - TODO: the title
#
# *time ~10 min · difficulty 1/5 · 0 points*
#
# **Task.** TODO: what to write, in the imperative.
#
# **Example.** TODO: a small input, and what becomes of it.
#
# <details><summary>Contract</summary>
#
# - TODO
#
# </details>
# <details><summary>Hint 1: a question</summary>
#
# TODO
#
# </details>
# <details><summary>Hint 2: the shapes</summary>
#
# TODO
#
# </details>
# <details><summary>Hint 3: pseudocode</summary>
#
# TODO
#
# </details>


# %% exercise="{unit}/{name}"
def {name}(x: torch.Tensor) -> torch.Tensor:
    """TODO: what it returns.

    Args:
        x: TODO: shape `(L, d)`.

    Returns:
        TODO: shape `(L,)`.
    """
    ### BEGIN SOLUTION
    return x.sum(dim=-1)  # (L,)
    ### END SOLUTION


# %% check="{unit}/{name}" points=0
# TODO: what the check looks at. Give it points that another exercise gives up.
check("{unit}/{name}", {name})

'''

_PROBE = '''\
"""The probe of {unit}/{name}."""

from __future__ import annotations

from typing import Any

from autograder.checks.probes import Inputs, Seen, probe, tensor


@probe("{unit}/{name}", results="result", calls="x afterwards")
def {name}(function: Any, inputs: Inputs) -> Seen:
    """TODO: what it reports."""
    x = inputs["x"]
    return {{"result": tensor(function(x), "the result"), "x afterwards": x}}
'''

_EXERCISE = '''\
"""TODO: what the exercise asks for."""

from __future__ import annotations

from autograder.authoring.notation import case, edit, right, wrong
from autograder.authoring.specification import Specification

CASES = [
    case("plain", "3 rows and 5 columns", lambda draw: {{"x": draw.tensor(3, 5)}},
         "TODO: a question that leads to the answer?"),
    case("hidden_long", "7 rows and 2 columns", lambda draw: {{"x": draw.tensor(7, 2)}},
         "TODO: another question?", hidden_only=True),
]

MISTAKES = [
    wrong("columns",
         "TODO: what happened.",
         "TODO: what to ask?",
         edit("dim=-1", "dim=0")),
    wrong("mean",
         "TODO: what happened.",
         "TODO: what to ask?",
         edit("sum", "mean")),
    wrong("negated",
         "TODO: what happened.",
         "TODO: what to ask?",
         edit("x.sum", "-x.sum")),
]

ACCEPTED = [
    right("product", edit("x.sum(dim=-1)", "x @ x.new_ones(x.size(-1))")),
]

EXERCISE = Specification(
    name="{unit}/{name}", title="TODO: the title", target="{name}",
    cases=CASES, mutants=MISTAKES, accepted=ACCEPTED,
)
'''

_CONTRACT = """
[{name}]
x = "TODO: names of what tests it, like columns"
returns = "TODO: like mean negated"
"""

_IMPORT = """\
from autograder.units.{unit}.probes import (  # noqa: F401  (they register)
{names}
)
"""


def create(unit: Unit, name: str) -> list[Path]:
    """Write the skeleton of an exercise, after the unit's last one; the files.

    Raises:
        CourseError: the name is none, or is taken; nothing is written.
    """
    if not re.fullmatch(r"[a-z][a-z0-9_]*", name) or keyword.iskeyword(name):
        raise CourseError(
            f'"{name}" cannot be the name of an exercise: it takes lower-case letters, '
            "digits and underscores, like favourite_key"
        )
    cells = notebook.read(unit)
    exercise = unit.folder / "exercises" / f"{name}.py"
    probe = unit.folder / "probes" / f"{name}.py"
    for path in (exercise, probe):
        if path.exists():
            raise CourseError(f"{path.relative_to(unit.root)} already exists")
    if any(cell.name == f"{unit.name}/{name}" for cell in cells):
        raise CourseError(f"{unit.text.name} already has an exercise {name}")
    count = sum(cell.role == "check" for cell in cells)
    words = {
        "unit": unit.name,
        "name": name,
        "number": f"{int(unit.number)}.{count + 1}",
    }
    registry, contract = probe.with_name("__init__.py"), unit.folder / "sentences.toml"
    files = {
        exercise: _EXERCISE.format(**words),
        probe: _PROBE.format(**words),
        registry: _registered(_text(registry), words),
        contract: _text(contract) + _CONTRACT.format(**words),
        unit.text: _with_cells(_text(unit.text), count, words),
    }
    return [path for path, text in files.items() if write(path, text)]


def refuse_unfinished(unit: Unit) -> None:
    """Refuse a unit in which something is still to be written.

    Raises:
        CourseError: with file and line of each mark of the skeleton.
    """
    if found := list(_marks(unit)):
        raise CourseError("\n".join(found))


def _marks(unit: Unit) -> Iterator[str]:
    written = (*sorted(unit.folder.rglob("*.py")), *unit.folder.glob("*.toml"))
    for path in (unit.text, *written):
        for line, text in enumerate(_text(path).splitlines(), 1):
            if MARK in text:
                yield f"{path.relative_to(unit.root)}:{line}: {text.strip(' #')}"


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8") if path.is_file() else ""


def _with_cells(text: str, count: int, words: Mapping[str, str]) -> str:
    """A notebook's text with the cells after its last check, counted in its head."""
    marks = list(_CELL.finditer(text))
    checks = (i for i, mark in enumerate(marks) if ' check="' in mark[0])
    last = max(checks, default=len(marks) - 1)
    ends = [mark.start() for mark in marks[last + 1 :]] or [len(text)]
    code = _CODE.search(text)
    body = code.start() if code else 0
    head = numbers.with_count(text[:body], count, count + 1)
    above = text[body : ends[0]].rstrip("\n")
    return f"{head}{above}\n\n{_CELLS.format(**words)}{text[ends[0] :]}"


def _registered(text: str, words: Mapping[str, str]) -> str:
    """The `__init__` of a unit's probes, with another file that it imports."""
    kinds = (ast.Import, ast.ImportFrom)
    imports = [node for node in ast.parse(text).body if isinstance(node, kinds)]
    package, lines = f"autograder.units.{words['unit']}.probes", text.splitlines(True)
    start = end = max((node.end_lineno or 0 for node in imports), default=len(lines))
    names = {words["name"]}
    for node in imports:
        if isinstance(node, ast.ImportFrom) and node.module == package:
            start, end = node.lineno - 1, node.end_lineno or 0
            names |= {alias.name for alias in node.names}
    listed = "\n".join(f"    {name}," for name in sorted(names))
    new = _IMPORT.format(unit=words["unit"], names=listed)
    return "".join([*lines[:start], new, *lines[end:]])
