"""Propose small changes to a student's code that are worth a question."""

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
    is_plumbing,
    is_sensible,
    is_slip,
    is_telling_if_unchanged,
    name_of,
    number,
)
from autograder.extras.questions.splicing import line_of, spliced

# How much a question about a change is worth, by operator: more if it needs an
# understanding of what a call does, less for a constant.
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
MOST = 40  # edits that are tried on one answer
_EACH_LINE = 12  # edits of one line


@dataclass(frozen=True)
class ProposedEdit:
    """A change to an answer about which a question may be asked.

    Attributes:
        line: the displayed line in which the changed statement begins.
        instruction: the change in words, such as "delete line 3".
        code: the code of the whole answer with the change.
        worth: how worthwhile a question about the change is.
        idea: what is done to what; a sheet asks about each idea once.
        is_telling_if_unchanged: whether to ask even if the result stays the same.
        exchanged: the two names that are swapped or replaced by each other, if any.
    """

    line: int
    instruction: str
    code: str
    worth: float
    is_return: bool
    idea: str
    is_telling_if_unchanged: bool
    exchanged: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Change:
    """A change to a statement.

    Attributes:
        operator: the kind of change, such as "swap arguments".
        replacement: the whole statement after the change.
        old, new: the part that is changed, before and after.
    """

    operator: str
    replacement: ast.AST
    old: ast.AST
    new: ast.AST


@dataclass(frozen=True)
class _Draft:
    """A possible `ProposedEdit`, without its code, which takes time to write.

    Attributes:
        place: the statement's parent, and its field and index there.
        old: the statement before the change.
    """

    worth: float
    place: tuple[ast.AST, str, int | None]
    old: ast.stmt
    change: _Change


def edits(listing: CodeListing) -> list[ProposedEdit]:
    """List the changes to an answer that are worth trying, `MOST` at most.

    The best change of each line comes first, then the second best of each, and so on.
    """
    tree = ast.parse(listing.source)
    function = listing.function_in(tree)
    drafts: dict[int, list[_Draft]] = {}
    for place in list(places(function)):
        statement = get(*place)
        if getattr(statement, "lineno", 0) not in listing.numbers:
            continue
        if _is_simple_branch(statement):
            change = _Change("delete", ast.Pass(), statement, ast.Pass())
            # To forget a whole condition makes a better question than any single line.
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
                continue  # it would leave an empty branch, which is no plausible slip
            if text not in texts and is_sensible(statement, replacement, text):
                texts.add(text)
                worth = _worth(change.operator, statement)
                draft = _Draft(worth, place, statement, change)
                drafts.setdefault(statement.lineno, []).append(draft)
    return [_write_edit(listing, tree, draft) for draft in _select_drafts(drafts)]


def _is_simple_branch(node: ast.AST) -> TypeGuard[ast.If]:
    """Whether a node is an ``if`` that a person may forget, like that for a mask."""
    if not isinstance(node, ast.If) or node.orelse or len(node.body) > 2:
        return False
    return all(isinstance(inner, ast.Assign | ast.AugAssign) for inner in node.body)


def _select_drafts(drafts: dict[int, list[_Draft]]) -> list[_Draft]:
    """Select up to `MOST` drafts: the best of each line, then the second best, etc.

    The keys of ``drafts`` are the lines of the source.
    """
    lines = [
        sorted(line_drafts, key=lambda e: -e.worth)[:_EACH_LINE]
        for line_drafts in drafts.values()
    ]
    ranked = [
        (rank, draft) for line_drafts in lines for rank, draft in enumerate(line_drafts)
    ]
    ranked.sort(key=lambda pair: (pair[0], -pair[1].worth))
    return [draft for _, draft in ranked][:MOST]


def _write_edit(listing: CodeListing, tree: ast.Module, draft: _Draft) -> ProposedEdit:
    """Complete a draft with the code of the whole answer after the change.

    For this, the answer's syntax tree, ``tree``, is changed and then restored.
    """
    change, old = draft.change, draft.old
    replace_node(*draft.place, change.replacement)
    code = ast.unparse(ast.fix_missing_locations(tree))
    replace_node(*draft.place, old)
    line, returns = listing.numbers[old.lineno], isinstance(old, ast.Return)
    return ProposedEdit(
        line, _describe(listing, old, change), code, draft.worth, returns,
        f"{change.operator}: {name_of(change.old)}",
        is_telling_if_unchanged(change.operator, change.old),
        exchanged(change.old, change.new),
    )  # fmt: skip


def _propose_changes(
    statement: ast.stmt, function: ast.FunctionDef
) -> Iterator[_Change]:
    """Propose replacements of a statement, each as a separate tree."""
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
            continue  # it concerns the machine or memory, not the method
        for operator, new in _candidates(node, names):
            replace_node(holder, field, index, new)
            replacement = copy.deepcopy(tree)
            replace_node(holder, field, index, node)
            yield _Change(operator, replacement, node, new)


def _arguments(function: ast.FunctionDef) -> list[str]:
    return [a.arg for a in function.args.args if a.arg != "self"]


def _first_assigned(statement: ast.stmt, function: ast.FunctionDef) -> bool:
    """Whether the statement gives a name its first value, so it cannot be deleted."""
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
    """Yield changes of a node as pairs: the kind ("operator") and the new node.

    ``names`` are those of the function's arguments.
    """
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


# Operators that are applied to a whole statement, or reimplemented here.
_OWN = {"another name", "forget to add", "remove a call"}


def _without_call(node: ast.AST) -> Iterator[ast.AST]:
    """Yield what may replace a call, if anything: x for ``x.f()`` or ``torch.f(x)``."""
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
            yield node.args[0]  # unless other arguments could replace the call as well


def _dimensions(node: ast.AST) -> Iterator[ast.AST]:
    """Replace a dimension in a call by a neighbouring one."""
    if not isinstance(node, ast.Call) or getattr(node.func, "attr", "") not in _TAKING:
        return
    named = [keyword.value for keyword in node.keywords if keyword.arg in _DIMENSIONS]
    for value in (*node.args, *named):
        other = _OTHERS.get(number(value))
        if other is not None:
            new = ast.parse(str(other), mode="eval").body
            yield copy.deepcopy(node, {id(value): new})  # with `new` as the copy of it


_OTHERS: dict[int | None, int] = {-1: -2, -2: -1, -3: -2, 0: 1, 1: 2, 2: 1, 3: 2}
_DIMENSIONS = {"dim", "dims", "axis", "dim0", "dim1"}
_TAKING = {
    "softmax", "log_softmax", "sum", "mean", "amax", "amin", "max", "min", "transpose",
    "swapaxes", "permute", "cat", "stack", "unsqueeze", "squeeze", "argmax", "cumsum",
    "flatten", "unflatten", "size", "chunk", "split", "norm", "var", "std", "any",
    "all", "logsumexp", "repeat_interleave", "gather", "narrow", "select", "unbind",
    "movedim",
}  # fmt: skip


def _is_dimension_like(node: ast.AST) -> bool:
    """Return whether a constant is 0, 1 or 2, and so may be a dimension or a size."""
    number = getattr(node, "value", None)
    return isinstance(number, bool | str) is False and number in (0, 1, 2)


def _describe(listing: CodeListing, old: ast.stmt, change: _Change) -> str:
    """Describe a change as an instruction to a reader of the numbered code."""
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
    """How much a question about a change is worth: more where tensors are computed."""
    text = ast.unparse(statement)
    deep = sum(word in text for word in _TELLING)
    return _WORTH[operator] + min(deep, 3)


_TELLING = (
    "softmax", "mask", "transpose", ".mT", "@", "matmul", "einsum", "sqrt", "keepdim",
    "view", "reshape", "contiguous", "permute", "unsqueeze", "dim", "norm", "dropout",
    "exp", "sum", "mean", "tril", "triu", "cat", "[", "detach", "clone",
)  # fmt: skip
