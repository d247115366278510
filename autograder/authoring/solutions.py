"""Generate the module of a unit's reference solutions from its notebook."""

from __future__ import annotations

import ast

from autograder.authoring.notebook import Cell, without_markers

# Imports for pictures, which solutions do not need.
_SKIPPED = ("matplotlib", "seaborn", "IPython")


def module_text(label: str, cells: list[Cell]) -> str:
    """The solutions of a notebook, with the imports of its plain cells, as a module."""
    imports: dict[str, None] = {}
    for cell in cells:
        if cell.kind == "code" and not cell.role:
            for node in ast.parse(cell.text).body:
                if isinstance(node, ast.Import | ast.ImportFrom) and _needed(node):
                    imports[ast.unparse(node)] = None
                elif line := _earlier(node):
                    imports[line] = None
    bodies = [without_markers(c.text) for c in cells if c.role == "exercise"]
    used = {
        node.id for node in ast.walk(ast.parse("\n".join(bodies)))
        if isinstance(node, ast.Name)
    }  # fmt: skip
    head = f'"""Built from notebooks/{label}.py by `make build`; do not edit."""\n\n'
    kept = [line for line in imports if _bound(line) & used]
    return head + "\n".join(sorted(kept)) + "\n\n\n" + "\n\n\n".join(bodies) + "\n"


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
            return f"from autograder.solutions import {unit} as {name}"
    return ""


def _bound(line: str) -> set[str]:
    return {
        (alias.asname or alias.name).split(".")[0]
        for alias in ast.walk(ast.parse(line))
        if isinstance(alias, ast.alias)
    }
