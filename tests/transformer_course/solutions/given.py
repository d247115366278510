"""What a notebook's own cells define, without its demonstrations; shaken models."""

from __future__ import annotations

import ast
import functools
from typing import Any

import jupytext
import torch
from torch import nn

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


def shake(module: nn.Module, scale: float = 0.1) -> nn.Module:
    """Change all parameters: norms start as ones and zeros, which hides an exchange."""
    torch.manual_seed(6)
    with torch.no_grad():
        for parameter in module.parameters():
            parameter += scale * torch.randn_like(parameter)
    return module.eval()
