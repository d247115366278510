"""Read the shapes that the signatures of a notebook's functions and modules state.

Annotations are those of jaxtyping, ``Float[Tensor, "B L h*d_k"]``, and are read from
the text of a cell: nothing is executed, and jaxtyping need not be installed.
"""

from __future__ import annotations

import ast
import contextlib
import functools
import operator
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from autograder.authoring.notebook import Cell
from autograder.course.errors import Faults

KINDS = ("Float", "Int", "Bool", "Real")  # Real: integers or floats

_DIMENSION = (
    'cannot read the dimension "{}" in "{}"; write names, integers, + - * // and '
    "parentheses without spaces, or *batch"
)
_KIND = "cannot draw or compare {}[...]; write Float, Int, Bool or Real"
_COMPLEX = ", and complex numbers as their real and imaginary parts"
_ARRAY = "np.ndarray"
_OPERATORS: dict[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
}


@dataclass(frozen=True)
class Parameter:
    """An argument or a result, as its annotation states it.

    Args:
        name: the argument's name, or "*context" for any number; "" for a result.
        kind: the dtype of a tensor, such as "Float"; "" if no shape is stated.
        shapes: the allowed shapes, each a tuple of dimensions such as "B", "h*d_k"
            or "*batch"; ``((),)`` for a tensor without dimensions.
        plain: the types other than tensors and None, as text: "int", "list[int]".
        optional: whether None is allowed.
        default: the code of the default; None if there is none.
        is_array: whether it is a NumPy array, not a tensor.
    """

    name: str = ""
    kind: str = ""
    shapes: tuple[tuple[str, ...], ...] = ()
    plain: str = ""
    optional: bool = False
    default: str | None = None
    is_array: bool = False


@dataclass(frozen=True)
class Signature:
    """The arguments and results of a function, or those of a class and its methods.

    Args:
        arguments: those of a function, or of a class's ``__init__``; no ``self``.
        results: the returned value, or the items of a returned tuple in order.
        methods: a class's methods by name, without ``__init__``.
    """

    arguments: tuple[Parameter, ...] = ()
    results: tuple[Parameter, ...] = ()
    methods: Mapping[str, Signature] = field(default_factory=dict)

    @property
    def call(self) -> Signature:
        """The signature of a module's ``forward``, or else of the function itself."""
        return self.methods.get("forward", self)


def refuse_wrong(cells: Sequence[Cell]) -> None:
    """Raise a CourseError if shapes or dtypes in annotations cannot be used."""
    faults = Faults()
    for cell in cells:
        if cell.kind == "code":
            name, _, first = cell.location.rpartition(":")
            with contextlib.suppress(SyntaxError):  # which solutions.py refuses
                tree = ast.parse(cell.text)
                described = [*_describe_faults(tree)]
                if cell.role == "exercise":
                    described += _describe_unfit_kinds(tree)
                for line, fault in described:
                    faults.append(f"{name}:{int(first) + line}: {fault}")
    faults.refuse()


@functools.lru_cache(maxsize=128)  # drawing a case reads its signature several times
def read_signature(code: str, target: str) -> Signature:
    """Read the signature of a function or class from the code of a cell.

    Args:
        code: the text of a cell in which `refuse_wrong` finds no fault.
    """
    definitions = (
        node
        for node in ast.parse(code).body
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name == target
    )
    node = next(definitions)
    if isinstance(node, ast.FunctionDef):
        return _read_function(node)
    methods = {
        method.name: _read_function(method, skipped=1)
        for method in node.body
        if isinstance(method, ast.FunctionDef)
    }
    start = methods.pop("__init__", Signature())
    return Signature(start.arguments, methods=methods)


def evaluate(dimension: str, sizes: Mapping[str, int]) -> int:
    """Compute a dimension such as "h*d_k" from the sizes of its names.

    Raises:
        ValueError: it is not simple arithmetic with names and integers.
        KeyError: a name has no size.
    """
    try:
        return _evaluate(ast.parse(dimension, mode="eval").body, sizes)
    except (SyntaxError, ZeroDivisionError) as error:
        raise ValueError(str(error)) from error


def _evaluate(node: ast.expr, sizes: Mapping[str, int]) -> int:
    """Compute a part of a dimension; see `evaluate`."""
    match node:
        case ast.Name(name):
            return sizes[name]
        case ast.Constant(int(size)):
            return size
        case ast.BinOp(left, symbol, right) if type(symbol) in _OPERATORS:
            compute = _OPERATORS[type(symbol)]
            return compute(_evaluate(left, sizes), _evaluate(right, sizes))
    raise ValueError(f"{ast.unparse(node)} cannot be computed")


def _describe_faults(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Yield the line and a description of each fault in the annotations of code."""
    for node in ast.walk(tree):
        match node:
            case ast.Subscript(
                ast.Name(kind), ast.Tuple([array, ast.Constant(str(text))])
            ) if kind in KINDS and ast.unparse(array) in ("Tensor", _ARRAY):
                for dimension in text.split():
                    if not _is_dimension(dimension):
                        yield node.lineno, _DIMENSION.format(dimension, text)
            case ast.Subscript(ast.Name(kind)) if kind in KINDS:
                yield node.lineno, f'write {kind}[Tensor, "B L"], with its dimensions'


def _describe_unfit_kinds(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Yield the line and description of each dtype that no case can draw or compare."""
    for node in ast.walk(tree):
        match node:
            case ast.Subscript(
                ast.Name(kind), ast.Tuple([array, ast.Constant(str())])
            ) if kind not in KINDS and ast.unparse(array) in ("Tensor", _ARRAY):
                hint = _COMPLEX if kind.startswith("Complex") else ""
                yield node.lineno, _KIND.format(kind) + hint


def _is_dimension(text: str) -> bool:
    """Whether a dimension, such as "h*d_k" or "*batch", can be read."""
    if text[0] == "*":
        return text[1:].isidentifier()
    try:
        evaluate(text, defaultdict(lambda: 97))  # any size of each name will do
    except ValueError:
        return False
    return True


def _read_function(node: ast.FunctionDef, skipped: int = 0) -> Signature:
    """Read a function's signature without its first ``skipped`` arguments."""
    names = node.args
    positional = [*names.posonlyargs, *names.args]
    defaults = [None] * (len(positional) - len(names.defaults)) + names.defaults
    pairs = [*zip(positional, defaults, strict=True)][skipped:]
    pairs += [*zip(names.kwonlyargs, names.kw_defaults, strict=True)]
    arguments = [
        _read(
            argument.annotation,
            argument.arg,
            None if default is None else ast.unparse(default),
        )
        for argument, default in pairs
    ]
    if names.vararg:
        arguments.append(_read(names.vararg.annotation, f"*{names.vararg.arg}"))
    return Signature(tuple(arguments), tuple(map(_read, _results(node.returns))))


def _results(returns: ast.expr | None) -> list[ast.expr]:
    """Split a function's return annotation into one annotation per result."""
    match returns:
        case None | ast.Constant(None):
            return []
        case ast.Subscript(ast.Name("tuple"), ast.Tuple(parts)):
            return parts
    return [returns]


def _read(
    annotation: ast.expr | None, name: str = "", default: str | None = None
) -> Parameter:
    """Read one annotation, whose alternatives are joined by ``|``."""
    kind, shapes, plain, optional, is_array = "", [], [], False, False
    for part in _alternatives(annotation):
        match part:
            case ast.Constant(None):
                optional = True
            case ast.Subscript(
                ast.Name(dtype), ast.Tuple([array, ast.Constant(str(text))])
            ) if dtype in KINDS:
                kind, is_array = dtype, ast.unparse(array) == _ARRAY
                shapes.append(tuple(text.split()))
            case _:
                plain.append(ast.unparse(part))
    return Parameter(
        name, kind, tuple(shapes), " | ".join(plain), optional, default, is_array
    )


def _alternatives(annotation: ast.expr | None) -> Iterator[ast.expr]:
    """Yield the alternatives of an annotation, which ``|`` separates.

    There are none if the annotation is missing.
    """
    match annotation:
        case ast.BinOp(left, ast.BitOr(), right):
            yield from _alternatives(left)
            yield from _alternatives(right)
        case ast.expr():
            yield annotation
