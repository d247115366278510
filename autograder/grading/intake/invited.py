"""Recognise a cell of the course in which only settings or demonstrations differ.

A setting is a name to which a cell assigns a literal; a demonstration is a function
with the decorator ``@demo``. Changes to these are not reported as repairs.
"""

from __future__ import annotations

import ast


def is_invited(changed: str, original: str) -> bool:
    """Return whether only settings and demonstrations differ in a cell of the course.

    A setting assigns a literal; a demonstration is a function with ``@demo``.
    """
    ours, theirs = _sets(original), _sets(changed)
    return ours is not None and theirs is not None and theirs <= ours


def _sets(code: str) -> set[str] | None:
    """The names that a cell sets; None if it does anything else."""
    try:
        names = [_set_by(node) for node in ast.parse(code).body]
    except (SyntaxError, ValueError, RecursionError, MemoryError):  # untrusted code
        return None
    return None if "" in names else set(names)


def _set_by(node: ast.stmt) -> str:
    """The name to which a statement binds a literal or a demonstration; "" if none."""
    match node:
        case ast.FunctionDef(name=name, decorator_list=[ast.Name("demo")]):
            return name
        case ast.Assign(targets=[ast.Name(name)], value=value) if _is_plain(value):
            return name
    return ""


def _is_plain(value: ast.expr) -> bool:
    """Whether an expression is a literal."""
    try:
        ast.literal_eval(value)
    except (ValueError, TypeError, RecursionError, MemoryError):
        return False
    return True
