"""Small changes to a student's code that are worth a question."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeGuard

from autograder.authoring.expression_operators import OPERATORS
from autograder.authoring.statement_operators import SLIPS
from autograder.authoring.trees import get, places, replace_node
from autograder.extras.questions.listing import CodeListing
from autograder.extras.questions.sensible import (
    exchanged,
    has_idea,
    is_plumbing,
    is_sensible,
    is_slip,
    name_of,
    number,
)
from autograder.extras.questions.splicing import line_of, spliced

# How much a change asks for, by operator: what a call does, rather than a constant.
_WORTH = {
    "another dimension": 6.0, "remove a call": 5.0, "exchange operands": 4.0,
    "another function": 3.5, "swap arguments": 4.5, "drop an argument": 3.0,
    "the other way": 4.0, "exchange calls": 5.0, "another sign": 3.0,
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
    ``is_return`` says whether that is what returns the result. Changes of one ``idea``
    are alike; ``has_idea`` says whether it is worth a question if nothing comes of it.
    ``exchanged`` are two names one of which now stands in the place of the other.
    """

    line: int
    instruction: str
    code: str
    worth: float
    is_return: bool
    idea: str
    has_idea: bool
    exchanged: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Change:
    """A statement that could stand in another's place, and the part that differs."""

    operator: str
    replacement: ast.AST
    old: ast.AST
    new: ast.AST


@dataclass(frozen=True)
class _Draft:
    """An edit of which only what it asks for is known: writing it out takes a while."""

    worth: float
    place: tuple[ast.AST, str, int | None]
    old: ast.stmt
    change: _Change


def edits(listing: CodeListing) -> list[TriedEdit]:
    """The changes to try, those that ask for most first, from many lines."""
    tree = ast.parse(listing.source)
    function = listing.function_in(tree)
    drafts: dict[int, list[_Draft]] = {}
    for place in list(places(function)):
        statement = get(*place)
        if getattr(statement, "lineno", 0) not in listing.numbers:
            continue
        if _is_simple_branch(statement):
            change = _Change("delete", ast.Pass(), statement, ast.Pass())
            draft = _Draft(_WORTH["delete"] + 3.0, place, statement, change)
            drafts.setdefault(statement.lineno, []).append(draft)
        if not isinstance(statement, _SIMPLE):
            continue
        alone = len(getattr(place[0], place[1])) == 1
        texts = {ast.unparse(statement)}
        for change in _propose_changes(statement, function):
            replacement = ast.fix_missing_locations(change.replacement)
            text = ast.unparse(replacement)
            if change.operator == "delete" and alone:
                continue  # nobody keeps a branch without a statement
            if text not in texts and is_sensible(statement, replacement, text):
                texts.add(text)
                worth = _worth(change.operator, statement)
                draft = _Draft(worth, place, statement, change)
                drafts.setdefault(statement.lineno, []).append(draft)
    return [_write_edit(listing, tree, draft) for draft in _select_drafts(drafts)]


def _is_simple_branch(node: ast.AST) -> TypeGuard[ast.If]:
    """Whether a node is an ``if`` that may be forgotten as a whole, as a mask is."""
    if not isinstance(node, ast.If) or node.orelse or len(node.body) > 2:
        return False
    return all(isinstance(inner, ast.Assign | ast.AugAssign) for inner in node.body)


def _select_drafts(drafts: dict[int, list[_Draft]]) -> list[_Draft]:
    """Order drafts: the best of each line, then the second best of each, and so on."""
    lines = [
        sorted(line_drafts, key=lambda e: -e.worth)[:_EACH_LINE]
        for line_drafts in drafts.values()
    ]
    ranked = [
        (rank, draft) for line_drafts in lines for rank, draft in enumerate(line_drafts)
    ]
    ranked.sort(key=lambda pair: (pair[0], -pair[1].worth))
    return [draft for _, draft in ranked][:MOST]


def _write_edit(listing: CodeListing, tree: ast.Module, draft: _Draft) -> TriedEdit:
    change, old = draft.change, draft.old
    replace_node(*draft.place, change.replacement)
    code = ast.unparse(ast.fix_missing_locations(tree))
    replace_node(*draft.place, old)
    line, returns = listing.numbers[old.lineno], isinstance(old, ast.Return)
    return TriedEdit(
        line, _describe(listing, old, change), code, draft.worth, returns,
        f"{change.operator}: {name_of(change.old)}",
        has_idea(change.operator, change.old), exchanged(change.old, change.new),
    )  # fmt: skip


def _propose_changes(
    statement: ast.stmt, function: ast.FunctionDef
) -> Iterator[_Change]:
    """Propose statements that could be there instead, each as a tree of its own."""
    returns = isinstance(statement, ast.Return)
    if not returns and not _first_assigned(statement, function):
        yield _Change("delete", ast.Pass(), statement, ast.Pass())
    names = _arguments(function)
    for replacement in OPERATORS["forget to add"](statement):
        yield _Change("forget to add", replacement, statement, replacement)
    tree = copy.deepcopy(statement)
    for operator, new in _candidates(tree, names):
        yield _Change(operator, copy.deepcopy(new), statement, new)
    for holder, field, index in list(places(tree)):
        node = get(holder, field, index)
        if getattr(holder, "attr", "") in ("device", "dtype"):
            continue  # whose is of the machine, or of memory
        for operator, new in _candidates(node, names):
            replace_node(holder, field, index, new)
            replacement = copy.deepcopy(tree)
            replace_node(holder, field, index, node)
            yield _Change(operator, replacement, node, new)


def _arguments(function: ast.FunctionDef) -> list[str]:
    return [a.arg for a in function.args.args if a.arg != "self"]


def _first_assigned(statement: ast.stmt, function: ast.FunctionDef) -> bool:
    """Whether a name has no value before the statement; without it, nothing runs."""
    assigned = {*_arguments(function), *(a.arg for a in function.args.kwonlyargs)}
    stored = [
        node
        for node in ast.walk(function)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    ]
    assigned |= {node.id for node in stored if node.lineno < statement.lineno}
    names = {node.id for node in ast.walk(statement) if node in stored}
    return not names <= assigned


def _candidates(node: ast.AST, names: list[str]) -> Iterator[tuple[str, ast.AST]]:
    yield from (("another dimension", replacement) for replacement in _dimensions(node))
    yield from (("remove a call", replacement) for replacement in _without_call(node))
    for operator in sorted(_WORTH.keys() & _ALL.keys() - _OWN):
        if operator == "another constant" and _is_dimension_like(node):
            continue
        if operator == "one operand" and number(node) is not None:
            continue  # 1 for -1 is often the same dimension
        for replacement in _ALL[operator](node):
            if is_slip(operator, node, replacement):
                yield operator, replacement
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
        for name in names if node.id in names else ():
            if name != node.id:
                yield "another name", ast.Name(name, ast.Load())


# Operators that are applied to a whole statement, or in a form of our own.
_OWN = {"another name", "forget to add", "remove a call"}


def _without_call(node: ast.AST) -> Iterator[ast.AST]:
    """Replace ``x.f(...)``, ``torch.f(x)`` and ``self.f(x)`` by the x alone."""
    if not isinstance(node, ast.Call) or is_plumbing(node):
        return
    of_library = isinstance(node.func, ast.Name) or (
        isinstance(node.func, ast.Attribute)
        and isinstance(node.func.value, ast.Name)
        and node.func.value.id in ("torch", "F", "math", "np", "nn", "self")
    )
    if not of_library and isinstance(node.func, ast.Attribute):
        yield node.func.value
    elif node.args and not isinstance(node.args[0], ast.Constant | ast.Starred):
        options = ast.Constant | ast.Attribute | ast.UnaryOp
        if all(isinstance(argument, options) for argument in node.args[1:]):
            yield node.args[0]  # else the others would be as good


def _dimensions(node: ast.AST) -> Iterator[ast.AST]:
    """A call with another one of the last two dimensions, or of the first ones."""
    if not isinstance(node, ast.Call) or getattr(node.func, "attr", "") not in _TAKING:
        return
    for group in (node.args, node.keywords):
        for i, argument in enumerate(group):
            value = argument.value if isinstance(argument, ast.keyword) else argument
            given_number = number(value)
            named = (
                isinstance(argument, ast.keyword) and argument.arg not in _DIMENSIONS
            )
            if given_number not in _OTHERS or named:
                continue
            replacement = copy.deepcopy(node)
            new = ast.parse(str(_OTHERS[given_number]), mode="eval").body
            if isinstance(argument, ast.keyword):
                replacement.keywords[i].value = new
            else:
                replacement.args[i] = new
            yield replacement


_OTHERS = {-1: -2, -2: -1, -3: -2, 0: 1, 1: 2, 2: 1, 3: 2}
_DIMENSIONS = {"dim", "dims", "axis", "dim0", "dim1"}
_TAKING = {
    "softmax", "log_softmax", "sum", "mean", "amax", "amin", "max", "min", "transpose",
    "swapaxes", "permute", "cat", "stack", "unsqueeze", "squeeze", "argmax", "cumsum",
    "flatten", "unflatten", "size", "chunk", "split", "norm", "var", "std", "any",
    "all",
    "logsumexp", "repeat_interleave", "gather", "narrow", "select", "unbind", "movedim",
}  # fmt: skip


def _is_dimension_like(node: ast.AST) -> bool:
    """Small numbers are dimensions and sizes; off by one is a slip of the pen."""
    number = getattr(node, "value", None)
    return isinstance(number, bool | str) is False and number in (0, 1, 2)


def _describe(listing: CodeListing, old: ast.stmt, change: _Change) -> str:
    """Describe a change to somebody who has the code before them."""
    first = listing.numbers[old.lineno]
    last = listing.last_shown(old)
    between = "and" if last == first + 1 else "to"
    place = f"line {first}" if first == last else f"lines {first} {between} {last}"
    if isinstance(change.replacement, ast.Pass):
        return f"delete {place}"
    arguments = (listing.source, old, change.old, change.new, change.replacement)
    if first != last and (text := line_of(*arguments)):
        return f"change line {listing.numbers[change.old.lineno]} to `{text}`"  # type: ignore[attr-defined]
    return f"change {place} to `{spliced(*arguments)}`"


def _worth(operator: str, statement: ast.stmt) -> float:
    """How much understanding a change asks for: more where tensors are computed."""
    text = ast.unparse(statement)
    deep = sum(word in text for word in _TELLING)
    return _WORTH[operator] + min(deep, 3)


_TELLING = (
    "softmax", "mask", "transpose", ".mT", "@", "matmul", "einsum", "sqrt", "keepdim",
    "view", "reshape", "contiguous", "permute", "unsqueeze", "dim", "norm", "dropout",
    "exp", "sum", "mean", "tril", "triu", "cat", "[", "detach", "clone",
)  # fmt: skip
