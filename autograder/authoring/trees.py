"""Find, read and replace nodes of a syntax tree."""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

Node = TypeVar("Node", bound=ast.AST)
Documented = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def inside(tree: ast.AST, holds: Callable[[ast.AST], bool]) -> set[ast.AST]:
    """All descendants of the nodes for which ``holds`` is true."""
    nodes: set[ast.AST] = set()
    for node in ast.walk(tree):
        if holds(node):
            nodes.update(n for n in ast.walk(node) if n is not node)
    return nodes


def defined_names(code: str) -> list[str]:
    """The functions, classes and constants that some code defines at its top level."""
    names = []
    for node in ast.parse(code).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.append(node.name)
        elif isinstance(node, ast.Assign):
            names += [t.id for t in node.targets if isinstance(t, ast.Name)]
    return names


def bound_names(node: ast.stmt) -> frozenset[str]:
    """The names that a definition, an assignment or an import binds."""
    match node:
        case ast.FunctionDef() | ast.ClassDef():
            return frozenset([node.name])
        case ast.Import() | ast.ImportFrom():
            bound = (alias.asname or alias.name for alias in node.names)
            return frozenset(name.partition(".")[0] for name in bound) - {"*"}
        case ast.Assign() | ast.AnnAssign() | ast.AugAssign():
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names = (
                n.id for t in targets for n in ast.walk(t) if isinstance(n, ast.Name)
            )
            return frozenset(names)
    return frozenset()


def list_documented(tree: ast.AST) -> list[Documented]:
    """List the modules, classes and functions that have a docstring."""
    return [
        node
        for node in ast.walk(tree)
        if isinstance(node, Documented)
        and ast.get_docstring(node, clean=False) is not None
    ]


def drop_docstrings(tree: ast.AST) -> None:
    """Remove the docstrings from a tree; a body of nothing else becomes ``pass``."""
    for node in list_documented(tree):
        node.body = node.body[1:] or [ast.Pass()]


def replace_fields(node: Node, **fields: Any) -> Node:
    """A shallow copy of a node with some fields replaced."""
    copied = copy.copy(node)
    vars(copied).update(fields)
    return copied


def is_raise(node: ast.AST) -> bool:
    return isinstance(node, ast.Raise)


def places(tree: ast.AST) -> Iterator[tuple[ast.AST, str, int | None]]:
    """Yield each node's position: its parent, the field, and the index in a list."""
    for node in ast.walk(tree):
        for field, value in ast.iter_fields(node):
            if isinstance(value, ast.AST):
                yield node, field, None
            elif isinstance(value, list):
                for i, item in enumerate(value):
                    if isinstance(item, ast.AST):
                        yield node, field, i


def get(holder: ast.AST, field: str, index: int | None) -> ast.AST:
    """The node at a position; see `places`."""
    value: Any = getattr(holder, field)
    node: ast.AST = value if index is None else value[index]
    return node


def replace_node(holder: ast.AST, field: str, index: int | None, node: ast.AST) -> None:
    """Put a node at a position of a tree; see `places`."""
    if index is None:
        setattr(holder, field, node)
    else:
        getattr(holder, field)[index] = node
