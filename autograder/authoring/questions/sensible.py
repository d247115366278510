"""Which changes a person could make, and which of them have an idea."""

from __future__ import annotations

import ast

_SWAPS = {"transpose", "swapaxes", "swapdims", "movedim"}
# Calls without which a result is the same for reasons of Python or of memory alone.
_PLUMBING = {
    "bool", "float", "int", "list", "tuple", "contiguous", "clone", "detach", "to",
    "type", "type_as", "long", "item", "copy", "deepcopy", "iter", "str", "dict",
}  # fmt: skip
# Operators after which it is worth knowing that nothing changes.
_TELLING_NOTHING = {
    "delete", "remove a call", "another name", "leave out a step",
    "leave out a condition", "another dimension", "one operand",
}  # fmt: skip
_NOT_ASKED = {"strict", "dtype", "device", "requires_grad", "persistent", "inplace"}


def is_sensible(old: ast.stmt, new: ast.AST, text: str) -> bool:
    """Whether the new line is something that a person could have written."""
    if isinstance(new, ast.Expr) and not isinstance(new.value, ast.Call):
        return False
    if isinstance(new, ast.Return) and text in ("return", "return None"):
        return False
    if any(_is_silly(node) for node in ast.walk(new)):
        return False
    if isinstance(new, ast.Assign) and text in _kept_as_it_is(new):
        return False
    if _options(old) - _options(new) and _calls(old) == _calls(new):
        return False
    odd = ("-0)", "-0,", "-0]", "--", "~~", "float16")
    return len(text) <= 110 and not any(part in text for part in odd)


def has_idea(operator: str, old: ast.AST, new: ast.AST) -> bool:
    """Whether there is something to know if the change leaves the result as it is.

    There is not where the change is only another way of writing the same.
    """
    if operator not in _TELLING_NOTHING:
        return False
    if operator == "another dimension":
        return name_of(old) in ("size", "unsqueeze") or "shape" in ast.unparse(old)
    return not (operator == "remove a call" and name_of(old) in _PLUMBING)


def name_of(node: ast.AST) -> str:
    """What a call calls, or the operator of an operation; else the kind of node."""
    if isinstance(node, ast.Call):
        return getattr(node.func, "attr", "") or getattr(node.func, "id", "")
    return type(getattr(node, "op", node)).__name__


def number(node: ast.AST) -> int | None:
    """The whole number that is written."""
    try:
        value = ast.literal_eval(node) if isinstance(node, ast.expr) else None
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        return None
    return value if type(value) is int else None


def _is_silly(node: ast.AST) -> bool:
    """What nobody would write: ``x / x``, ``x == x``, ``transpose(1, 1)``."""
    if isinstance(node, ast.BinOp):
        sides = ast.unparse(node.left), ast.unparse(node.right)
        odd = isinstance(node.op, ast.Mod) and isinstance(node.left, ast.Constant)
        large = isinstance(node.op, ast.Pow) and (number(node.right) or 0) > 9
        power = isinstance(node.right, ast.BinOp) and isinstance(node.right.op, ast.Pow)
        root = power and ast.unparse(node.right.left) == sides[0]  # type: ignore[attr-defined]
        return odd or large or root or sides[0] == sides[1]
    if isinstance(node, ast.Compare):
        return ast.unparse(node.left) == ast.unparse(node.comparators[0])
    if isinstance(node, ast.Call):
        return _is_silly_call(node)
    return isinstance(node, ast.Tuple) and not node.elts


def _is_silly_call(call: ast.Call) -> bool:
    given = [number(arg) for arg in call.args[-2:]]
    dims = given if None not in given and len(given) == 2 else [0, 1]
    name = name_of(call)
    if name in _SWAPS:
        return dims[0] == dims[1] or _is_short(call)
    return name == "flatten" and dims[0] >= dims[1] >= 0  # type: ignore[operator]


def _is_short(call: ast.Call) -> bool:
    """Whether a swap of two dimensions names fewer than two."""
    return len(call.args) + len(call.keywords) < 2


def _calls(tree: ast.AST) -> list[str]:
    return sorted(name_of(n) for n in ast.walk(tree) if isinstance(n, ast.Call))


def _options(tree: ast.AST) -> set[str]:
    """The keywords that are of Python or of memory, rather than of the method."""
    nodes = [node for node in ast.walk(tree) if isinstance(node, ast.keyword)]
    return {node.arg for node in nodes if node.arg in _NOT_ASKED}


def _kept_as_it_is(node: ast.Assign) -> str:
    return f"{ast.unparse(node.targets[0])} = {ast.unparse(node.targets[0])}"
