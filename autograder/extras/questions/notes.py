"""Instrument a student's code so that it records the values of its expressions."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from autograder.checks.tracing import NOTE
from autograder.extras.questions.listing import CodeListing
from autograder.extras.questions.sensible import is_filled

_WIDEST = 60  # the most characters of an expression that a question may quote


@dataclass(frozen=True)
class NotedPlace:
    """A point in the code where a run records a value, or only that it is reached.

    Attributes:
        line: the displayed line.
        text: the code of the recorded expression, or "".
        name: the variable to which the recorded value is assigned, or "".
        is_result: whether the value is the one that the line returns.
        is_filled: whether the value is a tensor filled with one number.
    """

    line: int
    text: str = ""
    name: str = ""
    is_result: bool = False
    is_filled: bool = False

    @property
    def description(self) -> str:
        """A phrase for the value in a question."""
        if self.name:
            return f"`{self.name}` right after line {self.line}"
        if self.is_result:
            return f"the value that line {self.line} returns"
        return f"`{self.text}` in line {self.line}"


def insert_notes(listing: CodeListing) -> tuple[str, list[NotedPlace]]:
    """Wrap the values in an answer's code in calls that record them.

    Returns:
        The changed code, and the places, to which the calls refer by index.
    """
    tree = ast.parse(listing.source)
    places: list[NotedPlace] = []
    noting = _Noting(listing, places)
    function = listing.function_in(tree)
    for statement in function.body:
        noting.visit(statement)  # in its place
    for node in ast.walk(function):
        for field in ("body", "orelse", "finalbody"):
            lines = getattr(node, field, None)
            if isinstance(lines, list) and not isinstance(node, ast.ClassDef):
                lines[:] = [new for old in lines for new in noting.reached(old)]
    return ast.unparse(ast.fix_missing_locations(tree)), places


class _Noting(ast.NodeTransformer):
    """Wraps expressions in calls that record their values, inner ones first."""

    def __init__(self, listing: CodeListing, places: list[NotedPlace]) -> None:
        self._listing, self._places, self._line = listing, places, 0

    def visit(self, node: ast.AST) -> ast.AST:
        """Wrap what a node assigns or returns, and its short parts, to record them."""
        if isinstance(node, _APART):
            return node
        if isinstance(node, ast.stmt):
            self._line = self._listing.numbers.get(node.lineno, 0)
        # Taken now, as the visit below wraps the parts of the node.
        text = ast.unparse(node) if isinstance(node, _PARTS) else ""
        name = _assigned(node)
        line = self._line
        filled = is_filled(getattr(node, "value", None) if name else node)
        if isinstance(node, _PARTS):  # its own line, in a statement of several lines
            line = self._listing.numbers.get(node.lineno, line)
        visited: ast.AST = super().visit(node)
        if name and isinstance(visited, ast.Assign | ast.AnnAssign) and visited.value:
            place = NotedPlace(line, name=name, is_filled=filled)
            visited.value = self._note_as(visited.value, place)
        elif isinstance(visited, ast.Return) and visited.value and _is_result(node):
            place = NotedPlace(line, is_result=True)
            visited.value = self._note_as(visited.value, place)
        elif text and line and len(text) <= _WIDEST and _is_read(node):
            return self._note(visited, NotedPlace(line, text, is_filled=filled))
        return visited

    def reached(self, statement: ast.stmt) -> list[ast.stmt]:
        """Return a statement, after a call that records that it is reached.

        A statement in a line that is not displayed is returned alone.
        """
        line = self._listing.numbers.get(getattr(statement, "lineno", 0), 0)
        if not line:
            return [statement]
        return [ast.Expr(self._note(ast.Constant(None), NotedPlace(line))), statement]

    def _note_as(self, value: ast.expr, place: NotedPlace) -> ast.expr:
        """Wrap a value in a call that records it as ``place``.

        If the value is wrapped already, ``place`` replaces the place of that call.
        """
        if isinstance(value, ast.Call) and getattr(value.func, "id", "") == NOTE:
            number = ast.literal_eval(value.args[0])
            self._places[number] = place
            return value
        return self._note(value, place)

    def _note(self, value: ast.AST, place: NotedPlace) -> ast.Call:
        """Wrap a value in a call that records it under the next number."""
        self._places.append(place)
        number = ast.Constant(len(self._places) - 1)
        assert isinstance(value, ast.expr), "only values are noted"
        return ast.Call(ast.Name(NOTE, ast.Load()), [number, value], [])


_PARTS = (
    ast.Call | ast.BinOp | ast.Subscript | ast.UnaryOp | ast.Attribute | ast.Compare
)
# What is executed at other times, or not separately.
_APART = ast.FunctionDef | ast.ClassDef | ast.Lambda | ast.JoinedStr


def _is_read(node: ast.AST) -> bool:
    """Whether a node is a value to record, and not a target or a called function."""
    if isinstance(node, ast.Attribute):
        return isinstance(node.ctx, ast.Load) and node.attr in ("T", "mT")
    return not isinstance(node, ast.Subscript) or isinstance(node.ctx, ast.Load)


def _is_result(node: ast.AST) -> bool:
    """Whether a return statement computes its value, rather than naming it."""
    value = getattr(node, "value", None)
    return not isinstance(value, ast.Tuple | ast.Name | ast.Constant)


def _assigned(node: ast.AST) -> str:
    """The variable that a statement assigns to; "" for any other node."""
    if isinstance(node, ast.Assign) and len(node.targets) == 1:
        target: ast.expr = node.targets[0]
    elif isinstance(node, ast.AnnAssign):
        target = node.target
    else:
        return ""
    return target.id if isinstance(target, ast.Name) else ""
