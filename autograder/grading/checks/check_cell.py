"""Find the check that a grade cell makes."""

from __future__ import annotations

import ast
import functools
from dataclasses import dataclass

from nbformat import NotebookNode
from nbgrader.utils import is_grade, is_solution


@dataclass(frozen=True)
class CheckCell:
    """A check that the judge decides: an exercise, and the expression that is checked.

    If an exercise checks several objects together, the expression is their tuple.
    """

    exercise: str
    expression: str


def check_cell(cell: NotebookNode) -> CheckCell | None:
    """Return the check that a cell of the course consists of; None for other cells."""
    # A graded answer is the student's own code, even where it calls `check`.
    if cell.cell_type != "code" or not is_grade(cell) or is_solution(cell):
        return None
    return _check_in(cell.source)


@functools.lru_cache
def _check_in(code: str) -> CheckCell | None:
    """The check that a cell's code consists of, or None; cached for all submissions."""
    try:
        statements = ast.parse(code).body
    except SyntaxError:
        return None
    # All statements must make the same check; None is for one that makes none.
    checks = {_check_call(statement) for statement in statements}
    return checks.pop() if len(checks) == 1 else None


def _check_call(statement: ast.stmt) -> CheckCell | None:
    """The check that a statement makes, as in `check("exercise", answer)`; or None."""
    match statement:
        case ast.Expr(ast.Call(func, [ast.Constant(str(name)), answer, *further], [])):
            if ast.unparse(func) in ("check", "check.hidden"):
                expression = answer
                if further:
                    expression = ast.Tuple([answer, *further], ast.Load())
                return CheckCell(name, ast.unparse(expression))
    return None
