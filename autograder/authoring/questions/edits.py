"""Small changes to a student's code that are worth a question."""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

from autograder.authoring.expression_operators import OPERATORS
from autograder.authoring.questions.listing import CodeListing
from autograder.authoring.questions.splicing import in_a_line, spliced
from autograder.authoring.statement_operators import SLIPS
from autograder.authoring.trees import get, places, put

# How much a change asks for, by operator: what a call does, rather than a constant.
_WORTH = {
    "another dimension": 6.0, "remove a call": 5.0, "exchange operands": 4.0,
    "another function": 4.0, "swap arguments": 3.5, "drop an argument": 4.0,
    "the other way": 4.0, "exchange calls": 5.0, "results": 2.0, "another sign": 3.0,
    "one operand": 3.5, "slices": 3.0, "leave out a step": 3.0,
    "leave out a condition": 3.0, "another constant": 2.0, "forget to add": 3.5,
    "another name": 3.0, "delete": 4.0,
}  # fmt: skip
_ALL = OPERATORS | SLIPS
_SIMPLE = ast.Assign | ast.AnnAssign | ast.AugAssign | ast.Return | ast.Expr
MOST = 64  # edits that are tried on one answer
_EACH_LINE = 12


@dataclass(frozen=True)
class TriedEdit:
    """One change: what it says, the answer's code with it, and how much it asks for.

    ``line`` is the displayed line in which the changed statement begins, and
    ``is_return`` says whether that is what returns the result.
    """

    line: int
    says: str
    code: str
    worth: float
    is_return: bool


@dataclass(frozen=True)
class _Draft:
    """An edit of which only what it asks for is known: writing it out takes a while."""

    worth: float
    place: tuple[ast.AST, str, int | None]
    old: ast.stmt
    made: ast.AST
    text: Callable[[], str]


def edits(listing: CodeListing) -> list[TriedEdit]:
    """The changes to try, those that ask for most first, from many lines."""
    tree = ast.parse(listing.source)
    function = listing.function_in(tree)
    drafts: dict[int, list[_Draft]] = {}
    for place in list(places(function)):
        statement = get(*place)
        if not isinstance(statement, _SIMPLE) or statement.lineno not in listing.shown:
            continue
        known = {ast.unparse(statement)}
        for operator, made, text in _changed(listing, statement, function):
            written = ast.unparse(ast.fix_missing_locations(made))
            if written not in known and _is_sensible(statement, made, written):
                known.add(written)
                draft = _Draft(
                    _worth(operator, statement), place, statement, made, text
                )
                drafts.setdefault(statement.lineno, []).append(draft)
    return [_written(listing, tree, draft) for draft in _taken(drafts)]


def _taken(drafts: dict[int, list[_Draft]]) -> list[_Draft]:
    """The best of each line, then the second best of each, and so on."""
    lines = [
        sorted(own, key=lambda e: -e.worth)[:_EACH_LINE] for own in drafts.values()
    ]
    ranked = [(rank, draft) for own in lines for rank, draft in enumerate(own)]
    ranked.sort(key=lambda pair: (pair[0], -pair[1].worth))
    return [draft for _, draft in ranked][:MOST]


def _written(listing: CodeListing, tree: ast.Module, draft: _Draft) -> TriedEdit:
    put(*draft.place, draft.made)
    code = ast.unparse(ast.fix_missing_locations(tree))
    put(*draft.place, draft.old)
    says = _says(listing, draft.old, draft.made, draft.text())
    line, returns = listing.shown[draft.old.lineno], isinstance(draft.old, ast.Return)
    return TriedEdit(line, says, code, draft.worth, returns)


def _changed(
    listing: CodeListing, statement: ast.stmt, function: ast.FunctionDef
) -> Iterator[tuple[str, ast.AST, Callable[[], str]]]:
    """Statements that could be there instead, each a tree of its own, with its text."""
    if not isinstance(statement, ast.Return) and not _first_assigned(
        statement, function
    ):
        yield "delete", ast.Pass(), str
    names = _arguments(function)
    for made in OPERATORS["forget to add"](statement):
        yield "forget to add", made, partial(in_a_line, made)
    own = copy.deepcopy(statement)
    for operator, new in _candidates(own, names):
        made = copy.deepcopy(new)
        yield operator, made, partial(in_a_line, made)
    for holder, field, index in list(places(own)):
        node = get(holder, field, index)
        for operator, new in _candidates(node, names):
            put(holder, field, index, new)
            made = copy.deepcopy(own)
            put(holder, field, index, node)
            text = partial(spliced, listing.source, statement, node, new, made)
            yield operator, made, text


def _arguments(function: ast.FunctionDef) -> list[str]:
    return [a.arg for a in function.args.args if a.arg != "self"]


def _first_assigned(statement: ast.stmt, function: ast.FunctionDef) -> bool:
    """Whether a name has no value before the statement; without it, nothing runs."""
    known = {*_arguments(function), *(a.arg for a in function.args.kwonlyargs)}
    stored = [
        node
        for node in ast.walk(function)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    ]
    known |= {node.id for node in stored if node.lineno < statement.lineno}
    own = {node.id for node in ast.walk(statement) if node in stored}
    return not own <= known


def _candidates(node: ast.AST, names: list[str]) -> Iterator[tuple[str, ast.AST]]:
    yield from (("another dimension", made) for made in _dimensions(node))
    yield from (("remove a call", made) for made in _without_call(node))
    for operator in sorted(_WORTH.keys() & _ALL.keys() - _OWN):
        if operator == "another constant" and _is_dimension_like(node):
            continue
        for made in _ALL[operator](node):
            yield operator, made
    if (
        isinstance(node, ast.Name)
        and isinstance(node.ctx, ast.Load)
        and node.id in names
    ):
        for name in names:
            if name != node.id:
                yield "another name", ast.Name(name, ast.Load())


# Operators that are applied to a whole statement, or in a form of our own.
_OWN = {"another name", "forget to add", "remove a call"}


def _without_call(node: ast.AST) -> Iterator[ast.AST]:
    """Of ``x.f(...)``, and of ``torch.f(x)``, the x alone."""
    if not isinstance(node, ast.Call):
        return
    of_library = isinstance(node.func, ast.Name) or (
        isinstance(node.func, ast.Attribute)
        and isinstance(node.func.value, ast.Name)
        and node.func.value.id in ("torch", "F", "math", "np", "nn")
    )
    if not of_library and isinstance(node.func, ast.Attribute):
        yield node.func.value
    elif node.args and not isinstance(node.args[0], ast.Constant | ast.Starred):
        yield node.args[0]


def _dimensions(node: ast.AST) -> Iterator[ast.AST]:
    """A call with another one of the last two dimensions, or of the first ones."""
    if not isinstance(node, ast.Call):
        return
    for group in (node.args, node.keywords):
        for i, given in enumerate(group):
            value = given.value if isinstance(given, ast.keyword) else given
            number = _number(value)
            named = isinstance(given, ast.keyword) and given.arg not in _DIMENSIONS
            if number not in _OTHERS or named or not _takes_dimensions(node):
                continue
            made = copy.deepcopy(node)
            new = ast.parse(str(_OTHERS[number]), mode="eval").body
            if isinstance(given, ast.keyword):
                made.keywords[i].value = new
            else:
                made.args[i] = new
            yield made


_OTHERS = {-1: -2, -2: -1, -3: -2, 0: 1, 1: 2, 2: 1, 3: 2}
_DIMENSIONS = {"dim", "dims", "axis", "dim0", "dim1"}
_TAKING = {
    "softmax", "log_softmax", "sum", "mean", "amax", "amin", "max", "min", "transpose",
    "swapaxes", "permute", "cat", "stack", "unsqueeze", "squeeze", "argmax", "cumsum",
    "flatten", "unflatten", "size", "chunk", "split", "norm", "var", "std", "any",
    "all",
    "logsumexp", "repeat_interleave", "gather", "narrow", "select", "unbind", "movedim",
}  # fmt: skip


def _takes_dimensions(call: ast.Call) -> bool:
    name = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    return name in _TAKING


def _number(node: ast.AST) -> int | None:
    try:
        value = ast.literal_eval(node) if isinstance(node, ast.expr) else None
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        return None
    return value if type(value) is int else None


def _is_dimension_like(node: ast.AST) -> bool:
    """Small numbers are dimensions and sizes; off by one is a slip of the pen."""
    number = getattr(node, "value", None)
    return isinstance(number, bool | str) is False and number in (0, 1, 2)


def _is_sensible(old: ast.stmt, new: ast.AST, text: str) -> bool:
    """Whether the new line is something that a person could have written."""
    if isinstance(new, ast.Expr) and not isinstance(new.value, ast.Call):
        return False
    if (
        isinstance(new, ast.Return)
        and _is_none(new.value)
        and isinstance(old, ast.Return)
    ):
        return False
    if any(_is_silly(node) for node in ast.walk(new)):
        return False
    if isinstance(new, ast.Assign) and text in _kept_as_it_is(new):
        return False
    odd = ("-0)", "-0,", "-0]", "--", "~~", "float16")
    return len(text) <= 110 and not any(part in text for part in odd)


def _is_none(node: ast.expr | None) -> bool:
    return node is None or (isinstance(node, ast.Constant) and node.value is None)


def _is_silly(node: ast.AST) -> bool:
    """What nobody would write: ``x / x``, ``x ** 10000``, ``2 % x``, ``tuple()``."""
    if isinstance(node, ast.BinOp):
        sides = ast.unparse(node.left), ast.unparse(node.right)
        odd = isinstance(node.op, ast.Mod) and isinstance(node.left, ast.Constant)
        large = isinstance(node.op, ast.Pow) and (_number(node.right) or 0) > 9
        return (
            odd or large or (sides[0] == sides[1] and not isinstance(node.op, ast.Mult))
        )
    return isinstance(node, ast.Tuple) and not node.elts


def _kept_as_it_is(node: ast.Assign) -> str:
    return f"{ast.unparse(node.targets[0])} = {ast.unparse(node.targets[0])}"


def _says(listing: CodeListing, old: ast.stmt, new: ast.AST, text: str) -> str:
    """The change, as one tells it to somebody who has the code before them."""
    first = listing.shown[old.lineno]
    last = listing.last_shown(old)
    where = f"line {first}" if first == last else f"lines {first} to {last}"
    if isinstance(new, ast.Pass):
        return f"delete {where}"
    return f"change {where} to `{text}`"


def _worth(operator: str, statement: ast.stmt) -> float:
    """What a change asks for; more where tensors are computed."""
    text = ast.unparse(statement)
    deep = sum(word in text for word in _TELLING)
    return _WORTH[operator] + min(deep, 3)


_TELLING = (
    "softmax", "mask", "transpose", ".mT", "@", "matmul", "einsum", "sqrt", "keepdim",
    "view", "reshape", "contiguous", "permute", "unsqueeze", "dim", "norm", "dropout",
    "exp", "sum", "mean", "tril", "triu", "cat", "[", "detach", "clone",
)  # fmt: skip
