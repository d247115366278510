"""Operators that make mutants of a solution, on its syntax tree.

Each operator takes a node and gives nodes that could stand in its place. They know
nothing of the exercise: what they find is what its author did not think of.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator
from typing import Any

from autograder.authoring.trees import changed, get, inside, is_raise, places, put

Nodes = Iterator[ast.AST]
HELPERS = "import torch\n_SEEN = {}\n"  # what the code of mutants may need
Operator = Callable[[ast.AST], Nodes]
OPERATORS: dict[str, Operator] = {}


def into(table: dict[str, Operator]) -> Callable[[Operator], Operator]:
    """Decorate an operator: it stands in ``table`` under its name, in words."""

    def put_down(operator: Operator) -> Operator:
        table[operator.__name__.replace("_", " ")] = operator
        return operator

    return put_down


def _expression(text: str, **parts: ast.expr) -> ast.expr:
    """An expression with other expressions for the names in it."""

    class Put(ast.NodeTransformer):
        def visit_Name(self, node: ast.Name) -> ast.expr:
            return copy.deepcopy(parts.get(node.id, node))

    made: ast.expr = Put().visit(ast.parse(text, mode="eval").body)
    return made


@into(OPERATORS)
def drop_an_argument(node: ast.AST) -> Nodes:
    if isinstance(node, ast.Call):
        for field in ("args", "keywords"):
            given = getattr(node, field)
            for i in range(len(given)):
                yield changed(node, **{field: [*given[:i], *given[i + 1 :]]})


@into(OPERATORS)
def swap_arguments(node: ast.AST) -> Nodes:
    if isinstance(node, ast.Call):
        for i in range(len(node.args) - 1):
            made = copy.deepcopy(node)
            made.args[i], made.args[i + 1] = made.args[i + 1], made.args[i]
            yield made


@into(OPERATORS)
def another_constant(node: ast.AST) -> Nodes:
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
    if isinstance(node, ast.Compare) and type(node.ops[0]) in _PAIRS:
        yield changed(node, ops=[_PAIRS[type(node.ops[0])](), *node.ops[1:]])
    if sign := _PAIRS.get(type(getattr(node, "op", None))):
        yield changed(node, op=sign())


@into(OPERATORS)
def exchange_operands(node: ast.AST) -> Nodes:
    """Where the order matters; of sums, in those of lists that are written as such."""
    if not isinstance(node, ast.BinOp):
        return
    both_ways = isinstance(node.op, ast.Add | ast.Mult | ast.BitAnd | ast.BitOr)
    if not both_ways or isinstance(node.left, ast.List | ast.ListComp):
        yield ast.BinOp(node.right, node.op, node.left)


@into(OPERATORS)
def one_operand(node: ast.AST) -> Nodes:
    if isinstance(node, ast.BinOp):
        yield node.left
        yield node.right
    if isinstance(node, ast.UnaryOp):
        yield node.operand


@into(OPERATORS)
def remove_a_call(node: ast.AST) -> Nodes:
    if isinstance(node, ast.Call):
        if isinstance(node.func, ast.Attribute):
            yield node.func.value
        yield from node.args[:1]


@into(OPERATORS)
def only_in_training(node: ast.AST) -> Nodes:
    if isinstance(node, ast.Call) and node.args:
        yield _expression("whole if self.training else x", whole=node, x=node.args[0])
        yield _expression("x if self.training else whole", whole=node, x=node.args[0])


@into(OPERATORS)
def a_condition(node: ast.AST) -> Nodes:
    if isinstance(node, ast.If | ast.IfExp | ast.While):
        always = [] if isinstance(node, ast.While) else [ast.Constant(True)]
        negated = ast.UnaryOp(ast.Not(), node.test)
        for test in (*always, ast.Constant(False), negated):
            yield changed(node, test=test)


@into(OPERATORS)
def remove_a_statement(node: ast.AST) -> Nodes:
    if isinstance(node, ast.Assign | ast.AugAssign | ast.Expr | ast.Raise | ast.Break):
        yield ast.Pass()


@into(OPERATORS)
def forget_to_add(node: ast.AST) -> Nodes:
    if isinstance(node, ast.AugAssign):
        yield ast.Assign([node.target], node.value, lineno=node.lineno)


@into(OPERATORS)
def detach(node: ast.AST) -> Nodes:
    yield from _passed_through("value.detach()", node)


@into(OPERATORS)
def cast(node: ast.AST) -> Nodes:
    for number in ("float16", "bfloat16"):
        text = f"value.to(torch.{number}).to(torch.get_default_dtype())"
        yield from _passed_through(text, node)


def _passed_through(text: str, node: ast.AST) -> Nodes:
    """What is assigned, or a part of what is returned, as the ``value`` of a text."""
    if isinstance(node, ast.Assign):
        made = _expression(text, value=node.value)
        yield ast.Assign(node.targets, made, lineno=node.lineno)
    if isinstance(node, ast.Return) and isinstance(node.value, ast.Tuple):
        for i, part in enumerate(node.value.elts):
            parts = [*node.value.elts]
            parts[i] = _expression(text, value=part)
            yield ast.Return(ast.Tuple(parts, ast.Load()))
    elif isinstance(node, ast.Return) and node.value is not None:
        yield ast.Return(_expression(text, value=node.value))


@into(OPERATORS)
def results(node: ast.AST) -> Nodes:
    if isinstance(node, ast.Return) and isinstance(node.value, ast.Tuple):
        yield ast.Return(ast.Tuple(node.value.elts[::-1], ast.Load()))
        yield ast.Return(node.value.elts[0])
    if isinstance(node, ast.Return):
        yield ast.Return(None)


@into(OPERATORS)
def remember(node: ast.AST) -> Nodes:
    """The first value of an argument, for ever or for equal shapes."""
    if not isinstance(node, ast.FunctionDef) or node.name.startswith("__"):
        return
    names = [a.arg for a in node.args.args]
    home = "self.__dict__" if names[:1] == ["self"] else "_SEEN"
    for name in names:
        if name == "self":
            continue
        for key in (f"'{name}'", f"('{name}', getattr({name}, 'shape', None))"):
            line = f"{name} = {home}.setdefault(str({key}), {name})"
            yield changed(node, body=[*ast.parse(line).body, *node.body])
        if name in _optional(node):
            lines = (
                f"{name} = {name} if {name} is not None else {home}.get('{name}')\n"
                f"{home}['{name}'] = {name}"
            )
            yield changed(node, body=[*ast.parse(lines).body, *node.body])


def _optional(node: ast.FunctionDef) -> set[str]:
    """The arguments that may be left out, with None in their place."""
    names = [a.arg for a in node.args.args][-len(node.args.defaults or [0]) :]
    pairs = zip(names, node.args.defaults, strict=False)
    return {n for n, d in pairs if isinstance(d, ast.Constant) and d.value is None}


@into(OPERATORS)
def another_name(node: ast.AST) -> Nodes:
    """Another argument of the same function in place of this one."""
    if not isinstance(node, ast.FunctionDef):
        return
    names = [a.arg for a in node.args.args if a.arg != "self"]
    messages = inside(node, is_raise)
    for place, field, index in places(node):
        old = get(place, field, index)
        if not isinstance(old, ast.Name) or not isinstance(old.ctx, ast.Load):
            continue
        for name in names if old.id in names and old not in messages else ():
            if name != old.id:
                put(place, field, index, ast.Name(name, ast.Load()))
                made = copy.deepcopy(node)
                put(place, field, index, old)
                yield made


@into(OPERATORS)
def slices(node: ast.AST) -> Nodes:
    if isinstance(node, ast.Slice):
        for field in ("lower", "upper"):
            if (bound := getattr(node, field)) is None:
                continue
            nearby = (_expression(text, b=bound) for text in ("b + 1", "b - 1"))
            for made in (None, *nearby):
                yield changed(node, **{field: made})


@into(OPERATORS)
def registration(node: ast.AST) -> Nodes:
    """Submodules, parameters and buffers that the module does not know of."""
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
        yield _expression("(lambda made: lambda x: made(x))(x)", x=node)


@into(OPERATORS)
def errors(node: ast.AST) -> Nodes:
    if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
        for name in ("AssertionError", "RuntimeError", "Exception", "TypeError"):
            call = ast.Call(ast.Name(name, ast.Load()), node.exc.args, [])
            yield ast.Raise(call, None)
        yield ast.Return(None)
