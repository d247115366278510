"""A call that can be made again with other arguments."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import CellType, FunctionType
from typing import Any

import torch
from torch import nn

from autograder.checks.exercise import WrongAnswerError
from autograder.checks.probes import describe, tensor

Named = dict[str, Any]
Dims = Mapping[str, tuple[str, ...]]
Results = Mapping[str, Any]  # what a call gives, by name: tensors, or a word on them


@dataclass(frozen=True)
class Form:
    """Arguments in their order, and what those hold that need not be given."""

    names: Sequence[str]
    defaults: Named

    def by_name(self, args: Sequence[Any], keywords: Named) -> tuple[list[Any], Named]:
        """What must be given, in its order, and all the rest by name.

        Nobody need say None where it is the default.
        """
        given = dict(zip(self.names, args, strict=False)) | keywords
        needed = [given.pop(n) for n in self.names if n not in self.defaults]
        options = {n: given.get(n, v) for n, v in self.defaults.items()}
        return needed, {n: v for n, v in options.items() if n in given or v is not None}

    def in_order(self, args: Sequence[Any], keywords: Named) -> tuple[list[Any], Named]:
        """All in its order, as far as nothing is left out."""
        values, options = self.by_name(args, keywords)
        for name in self.defaults:
            if name not in options:
                break
            values.append(options.pop(name))
        return values, options


@dataclass
class Call:
    """A call that a probe has made, and can be made again with other arguments.

    ``dims`` names the dimensions of arguments and results: B the batch, L... lengths.
    ``typed``: results have the type of the arguments, ``narrow``: bfloat16, too;
    ``named``: a module's parameters have no other names than those of the text, and
    ``alone``: nothing else in its state dict has; ``shown``: results but the first are
    there to look at, and need no gradient. ``called`` and ``made`` are the arguments,
    as the text names them, of the call and of what makes the module.
    """

    target: Any
    given: Named
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
    made: Form | None = None
    made_with: tuple[Callable[..., Any], Sequence[Any], Named] | None = None

    def __call__(self, **changed: object) -> Results:
        """The results by name, without a graph; every argument is a copy."""
        with torch.no_grad():
            return self._results(self._values(self.given | changed))

    def twice(self, **changed: object) -> Results:
        """The results of a second call, with the very tensors of the first one."""
        values = self._values(self.given | changed)
        self._results(values)
        return self._results(values)

    def refilled(self, **changed: torch.Tensor) -> Results:
        """The results with the tensors of an earlier call, which hold new numbers."""
        values = {n: v.clone() for n, v in self.given.items() if n in changed}
        values = self.given | values
        with torch.no_grad():
            self._results(self._values(values, copies=False))
            for name, value in changed.items():
                values[name].copy_(value)
            return self._results(self._values(values, copies=False))

    def by_name(self) -> Results:
        """The results where all that need not be given is given, by its name."""
        assert self.called is not None, "somebody has said what it is called with"
        values, options = self.called.by_name(self._values(self.given), self.keywords)
        with torch.no_grad():
            return self._results(values, options)

    def remade(self, by_name: bool | None = None) -> Any:
        """Another module, made as this one was.

        Where the text's form of the arguments is known, all options may be given by
        their names instead, or in their order.
        """
        assert self.made_with is not None, "only a module that is made is made again"
        make, args, keywords = self.made_with
        if by_name is None or self.made is None:
            return make(*args, **keywords)
        form = self.made.by_name if by_name else self.made.in_order
        values, options = form(args, keywords)
        return make(*values, **options)

    def _values(self, given: Named, copies: bool = True) -> list[Any]:
        given = dict(given)
        while given and list(given.values())[-1] is None:
            given.popitem()  # as a person would leave it out
        # One tensor that is given twice is one tensor in the copy, too.
        twins = {id(v): v.clone() if copied(v) else v for v in given.values() if copies}
        return [twins.get(id(v), v) for v in given.values()]

    def _results(self, values: list[Any], keywords: Named | None = None) -> Results:
        given = self.keywords if keywords is None else keywords
        found = self.target(*values, **given)
        if len(self.results) > 1 and (
            not isinstance(found, tuple | list) or len(found) != len(self.results)
        ):
            wanted = ", ".join(self.results)
            raise WrongAnswerError(
                f"expected a tuple ({wanted}), got {describe(found)}"
            )
        parts = found if len(self.results) > 1 else (found,)
        return {
            name: tensor(part, name)
            for name, part in zip(self.results, parts, strict=True)
        }

    def tensors(self) -> dict[str, torch.Tensor]:
        """The arguments that are tensors."""
        return {n: v for n, v in self.given.items() if isinstance(v, torch.Tensor)}

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
        """The places of a dimension in an argument."""
        return [i for i, own in enumerate(self.dims.get(name, ())) if own == dim]

    def cut(self, dim: str, part: slice) -> Named:
        """The arguments with a part of a named dimension; where it is 1, it is kept.

        They lie in memory as usual: views of others are a way of their own.
        """
        cut: Named = {}
        for name, value in self.tensors().items():
            for i in self.at(name, dim):
                if value.size(i) > 1:
                    index = [slice(None)] * value.dim()
                    index[i] = part
                    value = value[tuple(index)]
            cut[name] = _opened(value).contiguous()
        return cut


def copied(value: object) -> bool:
    """Whether an argument is to be copied: not a view whose strides are the point."""
    return isinstance(value, torch.Tensor) and value.is_contiguous()


def copied_module(module: nn.Module) -> nn.Module:
    """A deep copy; what a module keeps of a call, to be looked at, is in no graph.

    A function is its own deep copy: one that holds the module, also in a list of its
    steps, is made to hold the copy.
    """
    kept = [v for part in module.modules() for v in vars(part).values()]
    results = [v for v in kept if isinstance(v, torch.Tensor) and not v.is_leaf]
    twins: dict[int, Any] = {id(v): v.detach().clone() for v in results}
    made = copy.deepcopy(module, twins)
    done: dict[int, Any] = {}
    for part in made.modules():
        for name, value in [*vars(part).items()]:
            vars(part)[name] = _holding(value, twins, done)
    return made


def _holding(value: Any, twins: Mapping[int, Any], done: dict[int, Any]) -> Any:
    """The same, with functions that hold twins; ``done``: what was made so before."""
    value = twins.get(id(value), value)
    if id(value) in done:
        return done[id(value)]
    if isinstance(value, FunctionType) and value.__closure__:
        cells = tuple(CellType() for _ in value.__closure__)
        code, names = value.__code__, value.__globals__
        made = FunctionType(code, names, value.__name__, value.__defaults__, cells)
        made.__kwdefaults__ = value.__kwdefaults__
        done[id(value)] = made  # a function may hold itself
        for cell, held in zip(cells, value.__closure__, strict=True):
            cell.cell_contents = _holding(held.cell_contents, twins, done)
        return made
    if type(value) is list:
        steps: list[Any] = []
        done[id(value)] = steps
        steps += (_holding(item, twins, done) for item in value)
        return steps
    if type(value) is tuple:
        return tuple(_holding(item, twins, done) for item in value)
    if type(value) is dict:
        named: dict[Any, Any] = {}
        done[id(value)] = named
        named |= {key: _holding(item, twins, done) for key, item in value.items()}
        return named
    return value


def _opened(value: torch.Tensor) -> torch.Tensor:
    """A mask in which a row that was cut to nothing is open; others as they are."""
    if value.dtype != torch.bool:
        return value
    return value | ~value.any(-1, keepdim=True)


# Each way yields what is special about a call, and the call, made when it is asked for.
Tries = Iterator[tuple[str, Callable[[], Results]]]
