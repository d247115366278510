"""Operators that turn a solution into mutants by changes to its syntax tree.

A mutant is a slightly wrong program, which an exercise's cases should expose.
Each operator takes a node and yields nodes to replace it with.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator
from typing import Any

from autograder.authoring.trees import (
    get,
    inside,
    is_raise,
    places,
    replace_fields,
    replace_node,
)

Nodes = Iterator[ast.AST]
HELPERS = "import torch\n_SEEN = {}\n"  # names that the code of mutants may use
Operator = Callable[[ast.AST], Nodes]
OPERATORS: dict[str, Operator] = {}


def into(table: dict[str, Operator]) -> Callable[[Operator], Operator]:
    """Return a decorator that registers an operator in ``table``.

    The key is the operator's name with spaces, such as "drop an argument".
    """

    def register(operator: Operator) -> Operator:
        table[operator.__name__.replace("_", " ")] = operator
        return operator

    return register


def _expression(text: str, **parts: ast.expr) -> ast.expr:
    """Parse an expression and substitute other expressions for the names in it."""

    class Substitution(ast.NodeTransformer):
        def visit_Name(self, node: ast.Name) -> ast.expr:
            return copy.deepcopy(parts.get(node.id, node))

    expression: ast.expr = Substitution().visit(ast.parse(text, mode="eval").body)
    return expression


@into(OPERATORS)
def drop_an_argument(node: ast.AST) -> Nodes:
    """Mutate a call: leave out one argument, in each possible way."""
    if isinstance(node, ast.Call):
        for field in ("args", "keywords"):
            arguments = getattr(node, field)
            for i in range(len(arguments)):
                yield replace_fields(
                    node, **{field: [*arguments[:i], *arguments[i + 1 :]]}
                )


@into(OPERATORS)
def swap_arguments(node: ast.AST) -> Nodes:
    """Mutate a call: swap two neighbouring positional arguments, in each way."""
    if isinstance(node, ast.Call):
        for i in range(len(node.args) - 1):
            swapped = copy.deepcopy(node)
            swapped.args[i], swapped.args[i + 1] = swapped.args[i + 1], swapped.args[i]
            yield swapped


@into(OPERATORS)
def another_constant(node: ast.AST) -> Nodes:
    """Mutate a constant: negate a boolean, change an integer by 1, or scale a float."""
    if isinstance(node, ast.Constant):
        value = node.value
        if isinstance(value, bool):
            yield ast.Constant(not value)
        elif isinstance(value, int):
            yield ast.Constant(value + 1)
            yield ast.Constant(value - 1)
        elif isinstance(value, float):
            yield ast.Constant(value * 2)
            yield ast.Constant(value / 2)
            yield ast.Constant(0.0)


@into(OPERATORS)
def other_infinity(node: ast.AST) -> Nodes:
    """Replace -math.inf by a finite number or by infinity."""
    if ast.dump(node) == ast.dump(ast.parse("-math.inf", mode="eval").body):
        for value in ("-20.0", "-100.0", "0.0", "math.inf"):
            yield _expression(value)


_PAIRS: dict[type, Any] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult,
    ast.FloorDiv: ast.Div, ast.Mod: ast.FloorDiv, ast.Pow: ast.Mult,
    ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd,
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.And: ast.Or, ast.Or: ast.And,
}  # fmt: skip


@into(OPERATORS)
def another_sign(node: ast.AST) -> Nodes:
    """Mutate an operator or a comparison: use a related one, such as - for +."""
    if isinstance(node, ast.Compare) and type(node.ops[0]) in _PAIRS:
        yield replace_fields(node, ops=[_PAIRS[type(node.ops[0])](), *node.ops[1:]])
    if sign := _PAIRS.get(type(getattr(node, "op", None))):
        yield replace_fields(node, op=sign())


@into(OPERATORS)
def exchange_operands(node: ast.AST) -> Nodes:
    """Mutate a binary operation: exchange operands whose order seems to matter."""
    if not isinstance(node, ast.BinOp):
        return
    commutes = isinstance(node.op, ast.Add | ast.Mult | ast.BitAnd | ast.BitOr)
    # Except for lists, which + joins and * repeats.
    if not commutes or isinstance(node.left, ast.List | ast.ListComp):
        yield ast.BinOp(node.right, node.op, node.left)


@into(OPERATORS)
def one_operand(node: ast.AST) -> Nodes:
    """Replace an operation by one of its operands."""
    if isinstance(node, ast.BinOp):
        yield node.left
        yield node.right
    if isinstance(node, ast.UnaryOp):
        yield node.operand


@into(OPERATORS)
def remove_a_call(node: ast.AST) -> Nodes:
    """Replace a call by the object whose method it calls, or by its first argument."""
    if isinstance(node, ast.Call):
        if isinstance(node.func, ast.Attribute):
            yield node.func.value
        yield from node.args[:1]


@into(OPERATORS)
def only_in_training(node: ast.AST) -> Nodes:
    """Replace a call by its first argument, only in evaluation or only in training."""
    if isinstance(node, ast.Call) and node.args:
        yield _expression("whole if self.training else x", whole=node, x=node.args[0])
        yield _expression("x if self.training else whole", whole=node, x=node.args[0])


@into(OPERATORS)
def a_condition(node: ast.AST) -> Nodes:
    """Mutate a condition: make it constant, or negate it."""
    if isinstance(node, ast.If | ast.IfExp | ast.While):
        # A loop that never ends would only cost time.
        always = [] if isinstance(node, ast.While) else [ast.Constant(True)]
        negated = ast.UnaryOp(ast.Not(), node.test)
        for test in (*always, ast.Constant(False), negated):
            yield replace_fields(node, test=test)


@into(OPERATORS)
def remove_a_statement(node: ast.AST) -> Nodes:
    """Leave out an assignment, an expression, a ``raise`` or a ``break``."""
    if isinstance(node, ast.Assign | ast.AugAssign | ast.Expr | ast.Raise | ast.Break):
        yield ast.Pass()


@into(OPERATORS)
def forget_to_add(node: ast.AST) -> Nodes:
    """Replace an assignment such as ``x += y`` by ``x = y``."""
    if isinstance(node, ast.AugAssign):
        yield ast.Assign([node.target], node.value, lineno=node.lineno)


@into(OPERATORS)
def detach(node: ast.AST) -> Nodes:
    """Cut the gradient of an assigned or returned value."""
    yield from _wrap_value("value.detach()", node)


@into(OPERATORS)
def cast(node: ast.AST) -> Nodes:
    """Round an assigned or returned value to a type of less precision."""
    for number in ("float16", "bfloat16"):
        text = f"value.to(torch.{number}).to(torch.get_default_dtype())"
        yield from _wrap_value(text, node)


def _wrap_value(text: str, node: ast.AST) -> Nodes:
    """Wrap an assigned or returned expression in another, such as "value.detach()".

    Args:
        text: the other expression, in which "value" stands for the original one.
    """
    if isinstance(node, ast.Assign):
        expression = _expression(text, value=node.value)
        yield ast.Assign(node.targets, expression, lineno=node.lineno)
    if isinstance(node, ast.Return) and isinstance(node.value, ast.Tuple):
        for i, part in enumerate(node.value.elts):
            parts = [*node.value.elts]
            parts[i] = _expression(text, value=part)
            yield ast.Return(ast.Tuple(parts, ast.Load()))
    elif isinstance(node, ast.Return) and node.value is not None:
        yield ast.Return(_expression(text, value=node.value))


@into(OPERATORS)
def results(node: ast.AST) -> Nodes:
    """Mutate a ``return``: reverse its results, keep only the first, or return None."""
    if isinstance(node, ast.Return) and isinstance(node.value, ast.Tuple):
        yield ast.Return(ast.Tuple(node.value.elts[::-1], ast.Load()))
        yield ast.Return(node.value.elts[0])
    if isinstance(node, ast.Return):
        yield ast.Return(None)


@into(OPERATORS)
def remember(node: ast.AST) -> Nodes:
    """Mutate a function: let it reuse the value of an argument in an earlier call.

    It does so always, only for arguments of equal shape, or only in place of None.
    """
    if not isinstance(node, ast.FunctionDef) or node.name.startswith("__"):
        return
    names = [a.arg for a in node.args.args]
    # A method remembers in its object, a function in a dict of HELPERS.
    home = "self.__dict__" if names[:1] == ["self"] else "_SEEN"
    for name in names:
        if name == "self":
            continue
        for key in (f"'{name}'", f"('{name}', getattr({name}, 'shape', None))"):
            line = f"{name} = {home}.setdefault(str({key}), {name})"
            yield replace_fields(node, body=[*ast.parse(line).body, *node.body])
        if name in _optional(node):
            lines = (
                f"{name} = {name} if {name} is not None else {home}.get('{name}')\n"
                f"{home}['{name}'] = {name}"
            )
            yield replace_fields(node, body=[*ast.parse(lines).body, *node.body])


def _optional(node: ast.FunctionDef) -> set[str]:
    """The arguments whose default is None."""
    names = [a.arg for a in node.args.args][-len(node.args.defaults or [0]) :]
    pairs = zip(names, node.args.defaults, strict=False)
    return {n for n, d in pairs if isinstance(d, ast.Constant) and d.value is None}


@into(OPERATORS)
def another_name(node: ast.AST) -> Nodes:
    """Mutate a function: where it reads one of its arguments, read a different one.

    The node is the function's definition; ``self`` and error messages stay as they are.
    """
    if not isinstance(node, ast.FunctionDef):
        return
    names = [a.arg for a in node.args.args if a.arg != "self"]
    messages = inside(node, is_raise)
    for place, field, index in places(node):
        old = get(place, field, index)
        if not isinstance(old, ast.Name) or not isinstance(old.ctx, ast.Load):
            continue
        for name in names if old.id in names and old not in messages else ():
            if name != old.id:  # change the tree, copy it, and change it back
                replace_node(place, field, index, ast.Name(name, ast.Load()))
                renamed = copy.deepcopy(node)
                replace_node(place, field, index, old)
                yield renamed


@into(OPERATORS)
def slices(node: ast.AST) -> Nodes:
    """Mutate a slice: remove a bound, or move it by one."""
    if isinstance(node, ast.Slice):
        for field in ("lower", "upper"):
            if (bound := getattr(node, field)) is None:
                continue
            nearby = (_expression(text, b=bound) for text in ("b + 1", "b - 1"))
            for new_bound in (None, *nearby):
                yield replace_fields(node, **{field: new_bound})


@into(OPERATORS)
def registration(node: ast.AST) -> Nodes:
    """Mutate a module: leave a layer, parameter or buffer unregistered.

    A buffer is also made a parameter.
    """
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return
    name = ast.unparse(node.func)
    if name == "nn.ModuleList" and node.args:
        yield _expression("list(x)", x=node.args[0])
    if name == "nn.Parameter":
        yield _expression("torch.as_tensor(x).detach()", x=node.args[0])
    if name == "self.register_buffer":
        for text in (
            "self.__dict__.update({n: v})",
            "self.register_parameter(n, nn.Parameter(v))",
        ):
            yield _expression(text, n=node.args[0], v=node.args[1])
    if name in ("nn.Linear", "nn.LayerNorm", "nn.Embedding", "nn.Dropout"):
        # A function around the layer, which the module does not register.
        yield _expression("(lambda made: lambda x: made(x))(x)", x=node)


@into(OPERATORS)
def errors(node: ast.AST) -> Nodes:
    """Raise an error of a different type, or return None instead."""
    if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
        for name in ("AssertionError", "RuntimeError", "Exception", "TypeError"):
            call = ast.Call(ast.Name(name, ast.Load()), node.exc.args, [])
            yield ast.Raise(call, None)
        yield ast.Return(None)
