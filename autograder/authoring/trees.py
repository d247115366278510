"""Places in a syntax tree, and what stands there."""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

Node = TypeVar("Node", bound=ast.AST)


def inside(tree: ast.AST, holds: Callable[[ast.AST], bool]) -> set[ast.AST]:
    """All nodes below those of a kind."""
    found: set[ast.AST] = set()
    for node in ast.walk(tree):
        if holds(node):
            found.update(n for n in ast.walk(node) if n is not node)
    return found


def defined(code: str) -> list[str]:
    """The functions, classes and constants that some code defines at its top level."""
    found = []
    for node in ast.parse(code).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.append(node.name)
        elif isinstance(node, ast.Assign):
            found += [t.id for t in node.targets if isinstance(t, ast.Name)]
    return found


def drop_docstrings(tree: ast.AST) -> None:
    """Take the docstrings out of a tree; a body of nothing else becomes ``pass``."""
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    for node in ast.walk(tree):
        if isinstance(node, kinds) and ast.get_docstring(node) is not None:
            node.body = node.body[1:] or [ast.Pass()]


def changed(node: Node, **fields: Any) -> Node:
    """A shallow copy of a node with some fields replaced."""
    made = copy.copy(node)
    vars(made).update(fields)
    return made


def is_raise(node: ast.AST) -> bool:
    return isinstance(node, ast.Raise)


def places(tree: ast.AST) -> Iterator[tuple[ast.AST, str, int | None]]:
    for node in ast.walk(tree):
        for field, value in ast.iter_fields(node):
            if isinstance(value, ast.AST):
                yield node, field, None
            elif isinstance(value, list):
                for i, item in enumerate(value):
                    if isinstance(item, ast.AST):
                        yield node, field, i


def get(holder: ast.AST, field: str, index: int | None) -> ast.AST:
    value: Any = getattr(holder, field)
    found: ast.AST = value if index is None else value[index]
    return found


def put(holder: ast.AST, field: str, index: int | None, node: ast.AST) -> None:
    if index is None:
        setattr(holder, field, node)
    else:
        getattr(holder, field)[index] = node
