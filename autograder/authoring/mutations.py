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
    """A generated mutant: the operator, the change that it made, and the full code."""

    operator: str
    change: str
    source: str


def mutations(source: str) -> Iterator[Mutation]:
    """Yield all mutants of a function or class, without duplicates."""
    tree = _without_documentation(ast.parse(source))
    codes = {ast.unparse(tree)}
    in_init, messages = inside(tree, _is_init), inside(tree, is_raise)
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
                yield Mutation(operator, _change(node, replacement), code)


def _without_documentation(tree: ast.Module) -> ast.Module:
    """The tree without docstrings and annotations."""
    drop_docstrings(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            node.returns = None
            for argument in (*node.args.args, *node.args.kwonlyargs):
                argument.annotation = None
    return tree


def _is_init(node: ast.AST) -> bool:
    return isinstance(node, ast.FunctionDef) and node.name == "__init__"


def _change(old: ast.AST, new: ast.AST) -> str:
    """Describe a change as "old code -> new code", in one line."""
    texts = (" ".join(ast.unparse(node).split()) for node in (old, new))
    return " -> ".join(texts)


def _candidates(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    """Yield each possible replacement of a node, with the operator's name."""
    for name, operator in _ALL.items():
        for replacement in operator(node):
            yield name, replacement
