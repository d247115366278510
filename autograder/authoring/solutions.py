"""Generate the module of a unit's reference solutions from its notebook."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterable

from autograder.authoring.notebook import Cell, without_markers
from autograder.authoring.trees import bound_names
from autograder.course import Unit, units
from autograder.course.errors import CourseError, Faults
from autograder.root import PACKAGE

# Imports for pictures, which solutions do not need.
_SKIPPED = ("matplotlib", "seaborn", "IPython")
# Names that variants of a solution use, even if no solution does.
_ALWAYS = {"torch", "F"}
_EARLIER = re.compile(r'\bearlier\(\s*"(\w+)"')
_LATER = r"\b{unit}\.(\w+)"


def builds_on(unit: Unit) -> list[str]:
    """The labels of the units whose solutions a unit's notebook uses."""
    return sorted(set(_EARLIER.findall(unit.text.read_text(encoding="utf-8"))))


def refuse_gaps(unit: Unit) -> None:
    """Raise a CourseError if the course lacks a unit on which this one builds."""
    units_by_label = {earlier.label: earlier for earlier in units(unit.root)}
    for label in builds_on(unit):
        if label not in units_by_label:
            raise CourseError(
                f"{unit.label} builds on {label}, which is not in this course: bring "
                f"that back, or leave out {unit.label}, too"
            )
        refuse_gaps(units_by_label[label])


def refuse_unreadable(cells: Iterable[Cell]) -> None:
    """Raise a CourseError for syntax errors in the cells that make up the solutions."""
    faults = Faults()
    for cell in cells:
        if cell.kind == "code" and cell.role in ("", "exercise"):
            lines = cell.text.splitlines(keepends=True)
            try:
                ast.parse(cell.text)
            except SyntaxError as error:
                start = len("".join(lines[: (error.lineno or 1) - 1]))
                faults.append(f"{cell.locate(start)}: SyntaxError: {error.msg}")
    faults.refuse()


def names_used_later(unit: Unit) -> set[str]:
    """The functions and classes of a unit that notebooks of later units use."""
    users = [user for user in units(unit.root) if unit.label in builds_on(user)]
    name = re.compile(_LATER.format(unit=unit.name))
    texts = (user.text.read_text(encoding="utf-8") for user in users)
    return {match for text in texts for match in name.findall(text)}


def module_text(label: str, cells: list[Cell], later: Collection[str] = ()) -> str:
    """Generate the module of a notebook's solutions.

    Args:
        label: the label of the notebook's unit, like "02_attention".
        later: the names of functions and classes that later units use.
    """
    imports: dict[str, None] = {}
    definitions: dict[str, str] = {}  # the code of functions and classes
    for cell in cells:
        if cell.kind == "code" and not cell.role:
            for node in ast.parse(cell.text).body:
                if isinstance(node, ast.Import | ast.ImportFrom) and _needed(node):
                    imports[ast.unparse(node)] = None
                elif line := _earlier(node):
                    imports[line] = None
                elif isinstance(node, ast.FunctionDef | ast.ClassDef):
                    code = ast.get_source_segment(cell.text, node)
                    definitions[node.name] = code or ""
    # Helpers of exercises come before them, and those of later units after.
    bodies = [without_markers(c.text) for c in cells if c.role == "exercise"]
    first = _required_definitions("\n".join(bodies), definitions)
    wanted = "\n".join(name for name in definitions if name in later)
    required = _required_definitions(wanted, definitions)
    last = [definition for definition in required if definition not in first]
    bodies = [*first, *bodies, *last]
    used = {
        node.id for node in ast.walk(ast.parse("\n".join(bodies)))
        if isinstance(node, ast.Name)
    }  # fmt: skip
    head = f'"""Built from notebooks/{label}.py by `make build`; do not edit."""\n\n'
    import_lines = [
        line
        for line in imports
        if bound_names(ast.parse(line).body[0]) & (used | _ALWAYS)
    ]
    parts = ("\n".join(sorted(import_lines)), "\n\n\n".join(bodies))
    return head + "\n\n\n".join(parts) + "\n"


def _required_definitions(code: str, definitions: dict[str, str]) -> list[str]:
    """Select the definitions that code uses, directly or through other definitions."""
    required: dict[str, str] = {}
    while missing := [n for n in definitions if n not in required and n in _free(code)]:
        required |= {name: definitions[name] for name in missing}
        code = "\n".join([code, *(definitions[name] for name in missing)])
    return [definitions[name] for name in definitions if name in required]


def _free(code: str) -> set[str]:
    """The names that code reads and never assigns."""
    nodes = list(ast.walk(ast.parse(code)))
    names = [node for node in nodes if isinstance(node, ast.Name)]
    read = {node.id for node in names if isinstance(node.ctx, ast.Load)}
    bound = {node.id for node in names if not isinstance(node.ctx, ast.Load)}
    return read - bound - {node.arg for node in nodes if isinstance(node, ast.arg)}


def _needed(node: ast.Import | ast.ImportFrom) -> bool:
    """Return whether an import may be copied from the notebook to the solutions.

    Imports for pictures (`_SKIPPED`) and from ``autograder`` itself are not.
    """
    module = getattr(node, "module", None) or node.names[0].name
    # `check`, `demo` and `show` are the notebook's own; helpers of a unit are not.
    return module != "autograder" and module.split(".")[0] not in _SKIPPED


def _earlier(node: ast.stmt) -> str:
    """Turn ``name = earlier("02_attention", ...)`` into an ordinary import.

    The result is "" for any other statement.
    """
    match node:
        case ast.Assign(
            targets=[ast.Name(name)],
            value=ast.Call(func=ast.Name("earlier"), args=[ast.Constant(str(label))]),
        ):
            unit = label.split("_", 1)[1]
            return f"from {PACKAGE}.solutions import {unit} as {name}"
    return ""
