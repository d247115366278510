"""Code that also notes what its expressions come to."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from autograder.checks.tracing import NOTE
from autograder.extras.questions.listing import CodeListing
from autograder.extras.questions.sensible import is_filled

_WIDEST = 60  # characters of an expression that a question repeats


@dataclass(frozen=True)
class NotedPlace:
    """A value in the code: the displayed line that makes it, and what it is called.

    ``name`` is the variable it is assigned to, "" for a part of a longer expression,
    which is then told by its ``text``. Without either it is the line itself.
    ``is_filled``: it is a tensor of one number.
    """

    line: int
    text: str = ""
    name: str = ""
    is_result: bool = False
    is_filled: bool = False

    @property
    def description(self) -> str:
        """The value in words."""
        if self.name:
            return f"`{self.name}` right after line {self.line}"
        if self.is_result:
            return f"the value that line {self.line} returns"
        return f"`{self.text}` in line {self.line}"


def insert_notes(listing: CodeListing) -> tuple[str, list[NotedPlace]]:
    """Put a note around each value of the answer; returns also the numbered places."""
    tree = ast.parse(listing.source)
    places: list[NotedPlace] = []
    noting = _Noting(listing, places)
    function = listing.function_in(tree)
    for statement in function.body:
        noting.visit(statement)  # in its place
    for node in ast.walk(function):
        for field in ("body", "orelse"):
            lines = getattr(node, field, None)
            if isinstance(lines, list) and not isinstance(node, ast.ClassDef):
                setattr(
                    node, field, [new for old in lines for new in noting.reached(old)]
                )
    return ast.unparse(ast.fix_missing_locations(tree)), places


class _Noting(ast.NodeTransformer):
    """Puts expressions into calls that note their values, inner ones first."""

    def __init__(self, listing: CodeListing, places: list[NotedPlace]) -> None:
        self._listing, self._places, self._line = listing, places, 0

    def visit(self, node: ast.AST) -> ast.AST:
        if isinstance(
            node, ast.FunctionDef | ast.ClassDef | ast.Lambda | ast.JoinedStr
        ):
            return node  # run at other times, or not as code
        if isinstance(node, ast.stmt):
            self._line = self._listing.numbers.get(node.lineno, 0)
        text = ast.unparse(node) if isinstance(node, _PARTS) else ""
        name = _assigned(node)
        line = self._line
        filled = is_filled(getattr(node, "value", None) if name else node)
        if isinstance(node, _PARTS):  # of a long statement, its own line
            line = self._listing.numbers.get(node.lineno, line)
        visited: ast.AST = super().visit(node)
        if name and isinstance(visited, ast.Assign | ast.AnnAssign) and visited.value:
            place = NotedPlace(line, name=name, is_filled=filled)
            visited.value = self._renamed(visited.value, place)
        elif isinstance(visited, ast.Return) and visited.value and _is_result(node):
            visited.value = self._renamed(
                visited.value, NotedPlace(line, is_result=True)
            )
        elif text and line and len(text) <= _WIDEST and _is_read(node):
            return self._note(visited, NotedPlace(line, text, is_filled=filled))
        return visited

    def reached(self, statement: ast.stmt) -> list[ast.stmt]:
        """A statement, before which it is noted that it is reached."""
        line = self._listing.numbers.get(getattr(statement, "lineno", 0), 0)
        if not line:
            return [statement]
        return [ast.Expr(self._note(ast.Constant(None), NotedPlace(line))), statement]

    def _renamed(self, value: ast.expr, place: NotedPlace) -> ast.expr:
        """Note a value at this place, in place of any note that it already has."""
        if isinstance(value, ast.Call) and getattr(value.func, "id", "") == NOTE:
            number = ast.literal_eval(value.args[0])
            self._places[number] = place
            return value
        return self._note(value, place)

    def _note(self, value: ast.AST, place: NotedPlace) -> ast.Call:
        self._places.append(place)
        number = ast.Constant(len(self._places) - 1)
        assert isinstance(value, ast.expr), "only values are noted"
        return ast.Call(ast.Name(NOTE, ast.Load()), [number, value], [])


_PARTS = (
    ast.Call | ast.BinOp | ast.Subscript | ast.UnaryOp | ast.Attribute | ast.Compare
)


def _is_read(node: ast.AST) -> bool:
    """Whether a node is a value to note: not a target, nor what is called."""
    if isinstance(node, ast.Attribute):
        return isinstance(node.ctx, ast.Load) and node.attr in ("T", "mT")
    return not isinstance(node, ast.Subscript) or isinstance(node.ctx, ast.Load)


def _is_result(node: ast.AST) -> bool:
    value = getattr(node, "value", None)
    return not isinstance(value, ast.Tuple | ast.Name | ast.Constant)


def _assigned(node: ast.AST) -> str:
    if isinstance(node, ast.Assign) and len(node.targets) == 1:
        target: ast.expr = node.targets[0]
    elif isinstance(node, ast.AnnAssign):
        target = node.target
    else:
        return ""
    return target.id if isinstance(target, ast.Name) else ""
