"""Generate mutants of a solution by applying operators to its syntax tree."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from autograder.authoring.expression_operators import OPERATORS
from autograder.authoring.statement_operators import SLIPS
from autograder.authoring.trees import (
    drop_docstrings,
    get,
    inside,
    is_raise,
    places,
    replace_node,
)

_ALL = OPERATORS | SLIPS
# Operators that change a call; they make no sense in a module's ``__init__``.
IN_CALLS = {"only in training", "detach", "cast", "remember"}


@dataclass(frozen=True)
class Mutation:
    """A generated mutant: the operator, "old code -> new code", and the full code."""

    operator: str
    change: str
    source: str


def mutations(source: str) -> Iterator[Mutation]:
    """Yield all mutants of a function or class, without duplicates."""
    tree = _without_documentation(ast.parse(source))
    codes = {ast.unparse(tree)}
    in_init = inside(tree, lambda node: getattr(node, "name", "") == "__init__")
    messages = inside(tree, is_raise)
    for holder, field, index in list(places(tree)):
        node = get(holder, field, index)
        if node in messages:
            continue
        for operator, replacement in _candidates(node):
            if node in in_init and operator in IN_CALLS:
                continue
            # The tree is changed, written as code, and changed back.
            replace_node(holder, field, index, replacement)
            code = ast.unparse(ast.fix_missing_locations(tree))
            replace_node(holder, field, index, node)
            if code not in codes:
                codes.add(code)
                parts = (" ".join(ast.unparse(n).split()) for n in (node, replacement))
                yield Mutation(operator, " -> ".join(parts), code)


def _without_documentation(tree: ast.Module) -> ast.Module:
    """Remove docstrings and annotations from a tree, since no mutant changes them."""
    drop_docstrings(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            node.returns = None
            for argument in (*node.args.args, *node.args.kwonlyargs):
                argument.annotation = None
    return tree


def _candidates(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    """Yield each possible replacement of a node, with the operator's name."""
    for name, operator in _ALL.items():
        for replacement in operator(node):
            yield name, replacement
