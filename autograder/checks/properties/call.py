"""A call of a student's object that can be repeated with other arguments."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import CellType, FunctionType
from typing import Any

import torch
from torch import nn

from autograder.checks.probes import returned, tensor

Named = dict[str, Any]
Dims = Mapping[str, tuple[str, ...]]
Results = Mapping[str, Any]  # the results of a call by name: tensors, or texts on them


@dataclass(frozen=True)
class Form:
    """The order of arguments, and the defaults of those that are optional."""

    names: Sequence[str]
    defaults: Named

    def by_name(self, args: Sequence[Any], keywords: Named) -> tuple[list[Any], Named]:
        """Split arguments into the required ones, in order, and options by name.

        An option that is not given is left out if its default is None.
        """
        bound = dict(zip(self.names, args, strict=False)) | keywords
        needed = [bound.pop(n) for n in self.names if n not in self.defaults]
        options = {n: bound.get(n, v) for n, v in self.defaults.items()}
        return needed, {n: v for n, v in options.items() if n in bound or v is not None}

    def in_order(self, args: Sequence[Any], keywords: Named) -> tuple[list[Any], Named]:
        """Like `by_name`, but pass options by position up to the first left out."""
        values, options = self.by_name(args, keywords)
        for name in self.defaults:
            if name not in options:
                break
            values.append(options.pop(name))
        return values, options


@dataclass
class Call:
    """A call that a probe has made, and that can be repeated with other arguments.

    Args:
        target: the function or the module that is called.
        arguments: its arguments, by their names in the task; ``keywords`` are
            others.
        dims, results: the names of each argument's and result's dimensions: "B" for
            the batch; names that begin with "L" for lengths.
        optional: the arguments that may be left out.
        weights: the names of the parameters that the task gives a module.
        typed, narrow: whether results must have the dtype of the arguments, and
            whether that includes bfloat16.
        named, alone: whether a module's parameters, and its state dict, may hold
            nothing but ``weights``.
        shown: whether only the first result needs a gradient.
        called, construction: the arguments of the call, and of the module's class,
            as the task names them.
        made_with: what created the module, and the arguments that it was given.
    """

    target: Any
    arguments: Named
    dims: Dims
    results: Mapping[str, tuple[str, ...]]
    optional: tuple[str, ...] = ()
    keywords: Named = field(default_factory=dict)
    weights: tuple[str, ...] = ()
    typed: bool = False
    narrow: bool = False
    named: bool = False
    alone: bool = False
    shown: bool = False
    called: Form | None = None
    construction: Form | None = None
    made_with: tuple[Callable[..., Any], Sequence[Any], Named] | None = None

    def __call__(self, **changed: object) -> Results:
        """Repeat the call without gradients, and return its results by name.

        ``changed`` replaces some arguments, by name. The call gets copies of tensors.
        """
        with torch.no_grad():
            return self._results(self._values(self.arguments | changed))

    def twice(self, **changed: object) -> Results:
        """Call twice with the same tensor objects; return the second results."""
        values = self._values(self.arguments | changed)
        self._results(values)
        return self._results(values)

    def refilled(self, **changed: torch.Tensor) -> Results:
        """Call, put new numbers into the same tensors, and call again.

        The second results are returned; they are outdated if code caches by tensor.
        """
        values = {n: v.clone() for n, v in self.arguments.items() if n in changed}
        values = self.arguments | values
        with torch.no_grad():
            self._results(self._values(values, copies=False))
            for name, value in changed.items():
                values[name].copy_(value)
            return self._results(self._values(values, copies=False))

    def by_name(self) -> Results:
        """Call with all options given by name."""
        assert self.called is not None, "somebody has said what it is called with"
        arguments = self._values(self.arguments)
        values, options = self.called.by_name(arguments, self.keywords)
        with torch.no_grad():
            return self._results(values, options)

    def remade(self, by_name: bool | None = None) -> Any:
        """Construct a second module in the way in which this one was constructed.

        With ``by_name``, all options are given by name (True) or by position (False).
        """
        assert self.made_with is not None, "only a module that is made is made again"
        make, args, keywords = self.made_with
        if by_name is None or self.construction is None:
            return make(*args, **keywords)
        form = self.construction.by_name if by_name else self.construction.in_order
        values, options = form(args, keywords)
        return make(*values, **options)

    def _values(self, arguments: Named, copies: bool = True) -> list[Any]:
        """Return the arguments in order, without those at the end that are None.

        With ``copies``, contiguous tensors are copied.
        """
        values = list(arguments.values())
        while values and values[-1] is None:
            values.pop()  # as a person would leave it out
        # One tensor that is given twice is one tensor in the copy, too.
        twins = {id(v): v.clone() for v in values if copies and copied(v)}
        return [twins.get(id(v), v) for v in values]

    def _results(self, values: list[Any], keywords: Named | None = None) -> Results:
        """Call the target, and return its results by name."""
        options = self.keywords if keywords is None else keywords
        output = self.target(*values, **options)
        names = list(self.results)
        parts = returned(output, *names) if len(names) > 1 else (output,)
        return {n: tensor(part, n) for n, part in zip(names, parts, strict=True)}

    def tensors(self) -> dict[str, torch.Tensor]:
        """The arguments that are tensors."""
        return {n: v for n, v in self.arguments.items() if isinstance(v, torch.Tensor)}

    def floats(self) -> dict[str, torch.Tensor]:
        """The floating-point tensors among the arguments."""
        return {n: v for n, v in self.tensors().items() if v.is_floating_point()}

    def masks(self) -> dict[str, torch.Tensor]:
        """The boolean tensors among the arguments."""
        return {n: v for n, v in self.tensors().items() if v.dtype == torch.bool}

    def size(self, dim: str) -> int:
        """The size of a named dimension, 1 if no argument has it."""
        sizes = [v.size(i) for n, v in self.tensors().items() for i in self.at(n, dim)]
        return max(sizes, default=1)

    def at(self, name: str, dim: str) -> list[int]:
        """The indices of the axes called ``dim`` in the argument called ``name``."""
        return [i for i, d in enumerate(self.dims.get(name, ())) if d == dim]

    def select_part(self, dim: str, part: slice) -> Named:
        """Cut the arguments to a part of a named dimension; a size of 1 stays.

        The parts are contiguous, because views are tested separately.
        """
        parts: Named = {}
        for name, value in self.tensors().items():
            for i in self.at(name, dim):
                if value.size(i) > 1:
                    index = [slice(None)] * value.dim()
                    index[i] = part
                    value = value[tuple(index)]
            parts[name] = _open_empty_rows(value).contiguous()
        return parts


def copied(value: object) -> bool:
    """Whether to copy an argument before a call: only if it is a contiguous tensor."""
    return isinstance(value, torch.Tensor) and value.is_contiguous()


def copied_module(module: nn.Module) -> nn.Module:
    """Copy a module deeply, and detach results that it has stored from the graph.

    Functions that refer to the module are rebuilt so that they refer to the copy.
    """
    attributes = [v for part in module.modules() for v in vars(part).values()]
    results = [v for v in attributes if isinstance(v, torch.Tensor) and not v.is_leaf]
    twins: dict[int, Any] = {id(v): v.detach().clone() for v in results}
    duplicate = copy.deepcopy(module, twins)
    memo: dict[int, Any] = {}
    for part in duplicate.modules():
        for name, value in [*vars(part).items()]:
            vars(part)[name] = _holding(value, twins, memo)
    return duplicate


def _holding(value: Any, twins: Mapping[int, Any], memo: dict[int, Any]) -> Any:
    """Rebuild the functions in a value so that they refer to copies of what they held.

    ``twins`` maps the `id` of originals to copies, and ``memo`` to rebuilt values.
    """
    value = twins.get(id(value), value)
    if id(value) in memo:
        return memo[id(value)]
    if isinstance(value, FunctionType) and value.__closure__:
        cells = tuple(CellType() for _ in value.__closure__)
        code, names = value.__code__, value.__globals__
        function = FunctionType(code, names, value.__name__, value.__defaults__, cells)
        function.__kwdefaults__ = value.__kwdefaults__
        memo[id(value)] = function  # a function may hold itself
        for cell, original in zip(cells, value.__closure__, strict=True):
            cell.cell_contents = _holding(original.cell_contents, twins, memo)
        return function
    if type(value) is list:
        steps: list[Any] = []
        memo[id(value)] = steps
        steps += (_holding(item, twins, memo) for item in value)
        return steps
    if type(value) is tuple:
        return tuple(_holding(item, twins, memo) for item in value)
    if type(value) is dict:
        named: dict[Any, Any] = {}
        memo[id(value)] = named
        named |= {key: _holding(item, twins, memo) for key, item in value.items()}
        return named
    return value


def _open_empty_rows(value: torch.Tensor) -> torch.Tensor:
    """Allow all keys in those rows of a mask that allow none; ignore other dtypes.

    A row may have lost its keys when the mask was cut.
    """
    if value.dtype != torch.bool:
        return value
    return value | ~value.any(-1, keepdim=True)


# Each way to call yields labels of calls, and the functions that make these calls.
Tries = Iterator[tuple[str, Callable[[], Results]]]
