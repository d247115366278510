"""Operators for mistakes that affect a whole line: wrong functions, steps or order.

They work like those of `expression_operators`, which make smaller changes: to a number,
a sign or an argument.
"""

from __future__ import annotations

import ast
import copy
from typing import TypeGuard

from autograder.authoring.expression_operators import Nodes, Operator, into
from autograder.authoring.trees import get, places, replace_fields, replace_node

SLIPS: dict[str, Operator] = {}
# Pairs of functions, attributes and constants that are easily confused.
_TWINS = (
    "min max", "amin amax", "minimum maximum", "argmin argmax", "any all", "sum mean",
    "sum prod", "cumsum cumprod", "softmax log_softmax", "log log2", "log log1p",
    "exp expm1", "sqrt square", "sin cos", "floor ceil", "var std", "tril triu",
    "zeros ones", "zeros_like ones_like", "cat stack", "repeat repeat_interleave",
    "logical_and logical_or", "find rfind", "strip lstrip", "strip rstrip",
    "startswith endswith", "keys values", "encoder decoder", "BOS EOS", "PAD BOS",
    "PAD EOS", "PAD UNK",
)  # fmt: skip


def _twins(name: str) -> list[str]:
    """The names that are easily confused with a name."""
    pairs = [pair.split() for pair in _TWINS]
    return [twin for pair in pairs if name in pair for twin in pair if twin != name]


@into(SLIPS)
def another_function(node: ast.AST) -> Nodes:
    """Mutate a name: use one that is easily confused with it, such as max for min."""
    if isinstance(node, ast.Attribute):
        for name in _twins(node.attr):
            yield ast.Attribute(node.value, name, node.ctx)
    elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
        for name in _twins(node.id):
            yield ast.Name(name, node.ctx)


@into(SLIPS)
def another_attribute(node: ast.AST) -> Nodes:
    """Mutate a class: where it reads an attribute of ``self``, read a different one."""
    if not isinstance(node, ast.ClassDef):
        return
    attributes = [n for n in ast.walk(node) if _is_own(n)]
    names = {n.attr: None for n in attributes if isinstance(n.ctx, ast.Store)}
    for place, field, index in places(node):
        old = get(place, field, index)
        if not _is_own(old) or not isinstance(old.ctx, ast.Load):
            continue
        for name in names if old.attr in names else ():
            if name != old.attr:  # change the tree, copy it, and change it back
                replace_node(
                    place, field, index, ast.Attribute(old.value, name, ast.Load())
                )
                renamed = copy.deepcopy(node)
                replace_node(place, field, index, old)
                yield renamed


def _is_own(node: ast.AST) -> TypeGuard[ast.Attribute]:
    """Whether a node is an attribute of ``self``."""
    return (
        isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == "self"
    )


@into(SLIPS)
def in_training_or_not(node: ast.AST) -> Nodes:
    """Assume that a module is always, or never, in training mode."""
    if _is_own(node) and node.attr == "training":
        yield ast.Constant(True)
        yield ast.Constant(False)


@into(SLIPS)
def the_other_way(node: ast.AST) -> Nodes:
    """Mutate a comparison: reverse one sign of a chain, such as ``<`` to ``>``."""
    if isinstance(node, ast.Compare):
        for i, sign in enumerate(node.ops):
            if type(sign) in _OPPOSITES:
                opposite = _OPPOSITES[type(sign)]()
                ops = [*node.ops[:i], opposite, *node.ops[i + 1 :]]
                yield replace_fields(node, ops=ops)


_OPPOSITES: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.Gt, ast.Gt: ast.Lt, ast.LtE: ast.GtE, ast.GtE: ast.LtE,
}  # fmt: skip


@into(SLIPS)
def leave_out_a_condition(node: ast.AST) -> Nodes:
    """Mutate a condition: leave out an operand, or a filter of a comprehension."""
    if isinstance(node, ast.BoolOp):
        for i in range(len(node.values)):
            operands = [*node.values[:i], *node.values[i + 1 :]]
            yield ast.BoolOp(node.op, operands) if operands[1:] else operands[0]
    if isinstance(node, ast.comprehension):
        for i in range(len(node.ifs)):
            yield replace_fields(node, ifs=[*node.ifs[:i], *node.ifs[i + 1 :]])


@into(SLIPS)
def leave_out_a_step(node: ast.AST) -> Nodes:
    """Leave out the step of a slice."""
    if isinstance(node, ast.Slice) and node.step is not None:
        yield ast.Slice(node.lower, node.upper)


@into(SLIPS)
def exchange_calls(node: ast.AST) -> Nodes:
    """Mutate two chained method calls: ``x.a().b()`` becomes ``x.b().a()``."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return
    inner = node.func.value
    if isinstance(inner, ast.Call) and isinstance(inner.func, ast.Attribute):
        first = ast.Attribute(inner.func.value, node.func.attr, ast.Load())
        called = ast.Call(first, node.args, node.keywords)
        second = ast.Attribute(called, inner.func.attr, ast.Load())
        yield ast.Call(second, inner.args, inner.keywords)


@into(SLIPS)
def leave_out_a_context(node: ast.AST) -> Nodes:
    """Run the body of a ``with`` statement without its context manager."""
    if isinstance(node, ast.With):
        yield ast.If(ast.Constant(True), node.body, [])


@into(SLIPS)
def leave_out_a_loop(node: ast.AST) -> Nodes:
    """Mutate a loop: leave it out, or some of its iterations, or a ``continue``."""
    if isinstance(node, ast.For | ast.Continue):
        yield ast.Pass()
    if isinstance(node, ast.For):
        for part in ("[1:]", "[:-1]", "[:1]"):
            text = f"list({ast.unparse(node.iter)}){part}"
            yield replace_fields(node, iter=ast.parse(text, mode="eval").body)


@into(SLIPS)
def return_too_early(node: ast.AST) -> Nodes:
    """Mutate a function: return a variable as soon as it is assigned."""
    if isinstance(node, ast.FunctionDef):
        for i, line in enumerate(node.body[:-1], 1):
            if isinstance(line, ast.Assign) and isinstance(line.targets[0], ast.Name):
                name = ast.Name(line.targets[0].id, ast.Load())
                yield replace_fields(node, body=[*node.body[:i], ast.Return(name)])


@into(SLIPS)
def one_for_all(node: ast.AST) -> Nodes:
    """Mutate a list of new objects: put the same one into it several times."""
    if not isinstance(node, ast.ListComp | ast.GeneratorExp):
        return
    generator = node.generators[0]
    unused = isinstance(generator.target, ast.Name) and generator.target.id == "_"
    if unused and isinstance(node.elt, ast.Call):
        count = ast.Call(ast.Name("len", ast.Load()), [generator.iter], [])
        yield ast.BinOp(ast.List([node.elt], ast.Load()), ast.Mult(), count)
