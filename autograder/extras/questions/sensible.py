"""Decide which changes are plausible slips, and which are worth a question."""

from __future__ import annotations

import ast

_SWAPS = {"transpose", "swapaxes", "swapdims", "movedim"}
# Calls that concern only Python's types or memory, and do not change a result.
_PLUMBING = {
    "bool", "float", "int", "list", "tuple", "contiguous", "clone", "detach", "to",
    "type", "type_as", "long", "item", "copy", "deepcopy", "iter", "str", "dict",
    "tolist",
}  # fmt: skip
_ONE_WAY = ast.Sub | ast.Div | ast.FloorDiv | ast.Mod | ast.Pow
# Calls that turn a tensor into a number, or a number into a tensor.
_SIZES = {"size", "len", "dim", "numel", "arange", "eye"}
_FILLING = {"zeros", "ones", "full", "zeros_like", "ones_like", "full_like", "empty"}
# Operators for which it is instructive that the result stays the same.
_TELLING_NOTHING = {
    "delete", "remove a call", "another name", "leave out a step",
    "leave out a condition", "another dimension", "one operand",
}  # fmt: skip
_NOT_ASKED = {"strict", "dtype", "device", "requires_grad", "persistent", "inplace"}


def is_sensible(old: ast.stmt, new: ast.AST, text: str) -> bool:
    """Return whether a person could plausibly write ``new`` in place of ``old``.

    ``text`` is the code of ``new``.
    """
    if isinstance(new, ast.Expr) and not isinstance(new.value, ast.Call):
        return False
    if isinstance(new, ast.Return) and text in ("return", "return None"):
        return False
    old_texts = {ast.unparse(node) for node in ast.walk(old)}
    expressions = [node for node in ast.walk(new) if isinstance(node, ast.expr)]
    if any(_is_silly(e) and ast.unparse(e) not in old_texts for e in expressions):
        return False
    target = ast.unparse(new.targets[0]) if isinstance(new, ast.Assign) else ""
    if target and text == f"{target} = {target}":
        return False
    # It only leaves out an option such as ``dtype``, which is not asked about.
    if _options(old) - _options(new) and _calls(old) == _calls(new):
        return False
    # What only a program would write.
    odd = ("-0)", "-0,", "-0]", "--", "~~", "float16")
    return len(text) <= 110 and not any(part in text for part in odd)


def is_telling_if_unchanged(operator: str, old: ast.AST) -> bool:
    """Return whether it teaches something that a change leaves the result unchanged.

    ``operator`` is the kind of change, such as "another dimension".
    """
    if operator not in _TELLING_NOTHING:
        return False
    if operator == "another dimension":
        return name_of(old) in ("size", "unsqueeze") or "shape" in ast.unparse(old)
    return True


def is_plumbing(call: ast.Call) -> bool:
    """Return whether a call is no subject for a question about leaving it out."""
    name = name_of(call)
    return name in _PLUMBING | _SIZES | _FILLING or "drop" in name.lower()


def is_filled(node: ast.AST | None) -> bool:
    """Whether a node is a call that fills a tensor with one number."""
    return isinstance(node, ast.Call) and name_of(node) in _FILLING


def is_slip(operator: str, old: ast.AST, new: ast.AST) -> bool:
    """Return whether a person in a hurry could write ``new`` for ``old``.

    Questions ask only about such changes, since others give themselves away.
    ``operator`` is the kind of change, such as "swap arguments".
    """
    if operator == "drop an argument":
        # Nobody forgets the first argument, which the call is about.
        first, second = (node.args[:1] for node in (old, new))  # type: ignore[attr-defined]
        return list(map(ast.dump, first)) == list(map(ast.dump, second))
    if operator == "swap arguments":
        return _are_of_a_kind(old, new)
    if operator == "exchange calls":
        # In ``self.f(x).g()``, the result has no method f, so nobody exchanges them.
        inner = old.func.value.func.value  # type: ignore[attr-defined]
        return getattr(inner, "id", "") != "self"
    if not isinstance(old, ast.BinOp):
        return True
    if operator == "exchange operands":
        return isinstance(old.op, ast.Sub | ast.MatMult | ast.Add)
    if operator != "one operand":
        return True
    if isinstance(old.op, ast.MatMult) or isinstance(new, ast.Constant):
        return False
    # Of ``a - b``, only ``a`` may be left.
    return new is old.left or not isinstance(old.op, _ONE_WAY)


def _are_of_a_kind(old: ast.AST, new: ast.AST) -> bool:
    """Whether the two arguments that were swapped are written in the same way."""
    kinds = [
        (type(node), name_of(node) if isinstance(node, ast.Call | ast.UnaryOp) else "")
        for node, counterpart in zip(old.args, new.args, strict=True)  # type: ignore[attr-defined]
        if node is not counterpart
    ]
    return len(set(kinds)) == 1


def exchanged(old: ast.AST, new: ast.AST) -> tuple[str, ...]:
    """Two names, if the change replaces one by the other or swaps them; else ()."""
    pair = [old, new]
    if isinstance(old, ast.Call) and isinstance(new, ast.Call):
        pairs = zip(old.args, new.args, strict=False)
        pair = [first for first, second in pairs if ast.dump(first) != ast.dump(second)]
    names = [node.id for node in pair if isinstance(node, ast.Name)]
    return (*names,) if len(names) == len(pair) == 2 else ()


def name_of(node: ast.AST) -> str:
    """The name of a called function, an operator or a variable; else the node type."""
    if isinstance(node, ast.Call):
        return getattr(node.func, "attr", "") or getattr(node.func, "id", "")
    if isinstance(node, ast.Name):
        return node.id
    return type(getattr(node, "op", node)).__name__


def number(node: ast.AST) -> int | None:
    """The value of an integer literal; None for any other node."""
    try:
        value = ast.literal_eval(node) if isinstance(node, ast.expr) else None
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        return None
    return value if type(value) is int else None


def _is_silly(node: ast.AST) -> bool:
    """Whether an expression is implausible, like ``x / x`` or ``transpose(1, 1)``."""
    if isinstance(node, ast.BinOp):
        sides = ast.unparse(node.left), ast.unparse(node.right)
        # Such as ``2 % x``, ``x ** 10`` and ``x / x ** 2``.
        odd = isinstance(node.op, ast.Mod) and isinstance(node.left, ast.Constant)
        large = isinstance(node.op, ast.Pow) and (number(node.right) or 0) > 9
        power = isinstance(node.right, ast.BinOp) and isinstance(node.right.op, ast.Pow)
        root = power and ast.unparse(node.right.left) == sides[0]  # type: ignore[attr-defined]
        return odd or large or root or sides[0] == sides[1] or _is_idle(node)
    if isinstance(node, ast.Compare):
        return ast.unparse(node.left) == ast.unparse(node.comparators[0])
    if isinstance(node, ast.Call):
        return _is_silly_call(node)
    return isinstance(node, ast.Tuple) and not node.elts


def _is_idle(node: ast.BinOp) -> bool:
    """Whether an operation has only constants, or changes nothing, like ``x / 1``."""
    left_number, right_number = number(node.left), number(node.right)
    if isinstance(node.left, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub):
        left_number = number(node.left.right)  # as in x + 1 - 2
    neutral = 1 if isinstance(node.op, ast.Mult | ast.Div | ast.Pow) else 0
    return right_number == neutral or None not in (left_number, right_number)


def _is_silly_call(call: ast.Call) -> bool:
    """Whether a call is implausible, such as a swap of a dimension with itself."""
    numbers = [number(arg) for arg in call.args[-2:]]
    # Unknown dimensions count as two different ones, in order.
    dims = numbers if None not in numbers and len(numbers) == 2 else [0, 1]
    name = name_of(call)
    if name in _SWAPS:  # needs two different dimensions
        return dims[0] == dims[1] or len(call.args) + len(call.keywords) < 2
    if name == "permute":
        return len({ast.dump(arg) for arg in call.args}) < len(call.args)
    return name == "flatten" and dims[0] >= dims[1] >= 0  # type: ignore[operator]


def _calls(tree: ast.AST) -> list[str]:
    return sorted(name_of(n) for n in ast.walk(tree) if isinstance(n, ast.Call))


def _options(tree: ast.AST) -> set[str]:
    """Find keyword arguments that concern Python or memory, such as ``dtype``."""
    nodes = [node for node in ast.walk(tree) if isinstance(node, ast.keyword)]
    return {node.arg for node in nodes if node.arg in _NOT_ASKED}
