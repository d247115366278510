"""Generate the module of a unit's reference solutions from its notebook."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection

from autograder.authoring.notebook import Cell, without_markers
from autograder.course import Unit, units
from autograder.course.errors import CourseError
from autograder.root import PACKAGE

# Imports for pictures, which solutions do not need.
_SKIPPED = ("matplotlib", "seaborn", "IPython")
# What wrong and accepted variants of an answer use, even if no solution does.
_ALWAYS = {"torch", "F"}
_EARLIER = re.compile(r'\bearlier\(\s*"(\w+)"')
_LATER = r"\b{unit}\.(\w+)"


def builds_on(unit: Unit) -> list[str]:
    """The labels of the units whose solutions a unit's notebook uses."""
    return _EARLIER.findall(unit.text.read_text(encoding="utf-8"))


def refuse_gaps(unit: Unit) -> None:
    """See that all units are here on which one builds, directly or by others.

    Raises:
        CourseError: one is not.
    """
    known = {one.label: one for one in units(unit.root)}
    for label in builds_on(unit):
        if label not in known:
            raise CourseError(
                f"{unit.label} builds on {label}, which is not in this course: bring "
                f"that back, or leave out {unit.label}, too"
            )
        refuse_gaps(known[label])


def used_later(unit: Unit) -> set[str]:
    """The names of a unit that notebooks of later units use."""
    later = [one for one in units(unit.root) if unit.label in builds_on(one)]
    name = re.compile(_LATER.format(unit=unit.name))
    texts = (one.text.read_text(encoding="utf-8") for one in later)
    return {found for text in texts for found in name.findall(text)}


def module_text(label: str, cells: list[Cell], later: Collection[str] = ()) -> str:
    """The solutions of a notebook, as a module.

    Of its plain cells there are the imports, functions and classes that they use, and
    below them those that are used later.
    """
    imports: dict[str, None] = {}
    given: dict[str, str] = {}  # the code of functions and classes
    for cell in cells:
        if cell.kind == "code" and not cell.role:
            for node in ast.parse(cell.text).body:
                if isinstance(node, ast.Import | ast.ImportFrom) and _needed(node):
                    imports[ast.unparse(node)] = None
                elif line := _earlier(node):
                    imports[line] = None
                elif isinstance(node, ast.FunctionDef | ast.ClassDef):
                    given[node.name] = ast.get_source_segment(cell.text, node) or ""
    bodies = [without_markers(c.text) for c in cells if c.role == "exercise"]
    first = _asked_for("\n".join(bodies), given)
    wanted = "\n".join(name for name in given if name in later)
    last = [one for one in _asked_for(wanted, given) if one not in first]
    bodies = [*first, *bodies, *last]
    used = {
        node.id for node in ast.walk(ast.parse("\n".join(bodies)))
        if isinstance(node, ast.Name)
    }  # fmt: skip
    head = f'"""Built from notebooks/{label}.py by `make build`; do not edit."""\n\n'
    kept = [line for line in imports if _bound(line) & (used | _ALWAYS)]
    return head + "\n".join(sorted(kept)) + "\n\n\n" + "\n\n\n".join(bodies) + "\n"


def _asked_for(code: str, given: dict[str, str]) -> list[str]:
    """Those of some definitions that code stands on, also through others."""
    found: dict[str, str] = {}
    while more := [n for n in given if n not in found and n in _free(code)]:
        found |= {name: given[name] for name in more}
        code = "\n".join([code, *(given[name] for name in more)])
    return [given[name] for name in given if name in found]


def _free(code: str) -> set[str]:
    """The names that code reads and nowhere gives a value."""
    nodes = list(ast.walk(ast.parse(code)))
    names = [node for node in nodes if isinstance(node, ast.Name)]
    read = {node.id for node in names if isinstance(node.ctx, ast.Load)}
    own = {node.id for node in names if not isinstance(node.ctx, ast.Load)}
    return read - own - {node.arg for node in nodes if isinstance(node, ast.arg)}


def _needed(node: ast.Import | ast.ImportFrom) -> bool:
    module = getattr(node, "module", None) or node.names[0].name
    # `check`, `demo` and `show` are the notebook's own; helpers of a unit are not.
    return module != "autograder" and module.split(".")[0] not in _SKIPPED


def _earlier(node: ast.stmt) -> str:
    """``name = earlier("02_attention", ...)`` as an import of the reference."""
    match node:
        case ast.Assign(
            targets=[ast.Name(name)],
            value=ast.Call(func=ast.Name("earlier"), args=[ast.Constant(str(label))]),
        ):
            unit = label.split("_", 1)[1]
            return f"from {PACKAGE}.solutions import {unit} as {name}"
    return ""


def _bound(line: str) -> set[str]:
    return {
        (alias.asname or alias.name).split(".")[0]
        for alias in ast.walk(ast.parse(line))
        if isinstance(alias, ast.alias)
    }
