"""What a notebook's own cells define, without running its demonstrations."""

from __future__ import annotations

import ast
import functools
from typing import Any

import jupytext

from autograder.course import find_unit


@functools.cache
def code(unit: str) -> dict[str, Any]:
    """The names of a unit's notebook: functions, classes, constants, solutions."""
    cells = jupytext.read(find_unit(unit).text, fmt="py:percent").cells
    kept = []
    for cell in cells:
        if cell.cell_type != "code" or "check" in cell.metadata:
            continue
        kept += [node for node in ast.parse(cell.source).body if _defines(node)]
    namespace: dict[str, Any] = {}
    exec(compile(ast.Module(kept, []), "<notebook>", "exec"), namespace)
    return namespace


def _defines(node: ast.stmt) -> bool:
    decorators = getattr(node, "decorator_list", [])
    if any(isinstance(d, ast.Name) and d.id == "demo" for d in decorators):
        return False
    kinds = ast.Import | ast.ImportFrom | ast.FunctionDef | ast.ClassDef
    names = "".join(ast.unparse(t) for t in getattr(node, "targets", []))
    return isinstance(node, kinds) or names.isupper() or "earlier(" in ast.unparse(node)
