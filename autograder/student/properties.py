"""General properties: one object, called in many ways, whatever exercise it solves.

An exercise's own probe makes the object and calls it; here that first call is caught,
and made again in ways that a right solution does not mind: twice, after other calls,
sentence by sentence, in training mode, from its state dict. As all probes, these report
and never judge: the reference is called in the same ways, and who holds it compares.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import torch
from torch import nn

from autograder.student.exercise import Answers, WrongAnswer
from autograder.student.probes import Inputs, Report, Seen, describe, tensor

KEY = "property"  # the input that says, in JSON, which ways are to be tried
Named = dict[str, Any]
Dims = Mapping[str, tuple[str, ...]]


@dataclass
class Call:
    """A call that a probe has made, and can be made again with other arguments.

    ``dims`` names the dimensions of arguments and results: B the batch, L... lengths.
    """

    target: Any
    given: Named
    dims: Dims
    results: Mapping[str, tuple[str, ...]]
    optional: tuple[str, ...] = ()
    keywords: Named = field(default_factory=dict)
    weights: tuple[str, ...] = ()
    make: Callable[[], Any] | None = None
    drops: bool = False  # whether dropout is promised: then it is held still

    def __call__(self, **changed: object) -> dict[str, torch.Tensor]:
        """The results by name; every argument is a copy."""
        given = self.given | changed
        while given and list(given.values())[-1] is None:
            given.popitem()  # as a person would leave it out
        values = [v.clone() if _copied(v) else v for v in given.values()]
        found = self.target(*values, **self.keywords)
        if len(self.results) > 1 and (
            not isinstance(found, tuple | list) or len(found) != len(self.results)
        ):
            wanted = ", ".join(self.results)
            raise WrongAnswer(f"expected a tuple ({wanted}), got {describe(found)}")
        parts = found if len(self.results) > 1 else (found,)
        return {
            name: tensor(part, name)
            for name, part in zip(self.results, parts, strict=True)
        }

    def tensors(self) -> dict[str, torch.Tensor]:
        """The arguments that are tensors."""
        return {n: v for n, v in self.given.items() if isinstance(v, torch.Tensor)}

    def size(self, dim: str) -> int:
        """The size of a named dimension, 1 if no argument has it."""
        sizes = [v.size(i) for n, v in self.tensors().items() for i in self.at(n, dim)]
        return max(sizes, default=1)

    def at(self, name: str, dim: str) -> list[int]:
        """The places of a dimension in an argument."""
        return [i for i, own in enumerate(self.dims.get(name, ())) if own == dim]

    def cut(self, dim: str, part: slice) -> Named:
        """The arguments with a part of a named dimension; where it is 1, it is kept."""
        cut: Named = {}
        for name, value in self.tensors().items():
            for i in self.at(name, dim):
                if value.size(i) > 1:
                    index = [slice(None)] * value.dim()
                    index[i] = part
                    value = value[tuple(index)]
            cut[name] = _opened(value)
        return cut


def _copied(value: object) -> bool:
    """Whether an argument is to be copied: not a view whose strides are the point."""
    return isinstance(value, torch.Tensor) and value.is_contiguous()


def _opened(value: torch.Tensor) -> torch.Tensor:
    """A mask in which a row that was cut to nothing is open; others as they are."""
    if value.dtype != torch.bool:
        return value
    return value | ~value.any(-1, keepdim=True)


# --- ways -----------------------------------------------------------------------------

Results = dict[str, torch.Tensor]
# Each way yields what is special about a call, and the call, made when it is asked for.
Tries = Iterator[tuple[str, Callable[[], Results]]]
Way = Callable[[Call], Tries]


def plain(call: Call) -> Tries:
    """The call as it is."""
    yield "", call


def steady(call: Call) -> Tries:
    """The same again, other calls in between, and the same at the end."""
    yield "at first", call
    yield "the same again", call
    for label, changed in _others(call):
        yield label, partial(call, **changed)
    if isinstance(call.target, nn.Module):
        with dropout_is(_nothing):
            call.target.train()
            call()
            call.target.eval()
    yield "the same at the end", call


def _others(call: Call) -> Iterator[tuple[str, Named]]:
    """Other arguments: numbers, masks, sizes."""
    batch = call.size("B")
    if batch > 1:
        rolled: Named = {
            name: -value.roll(1, 0) if value.is_floating_point() else value.roll(1, 0)
            for name, value in call.tensors().items()
            if value.dtype != torch.bool and 0 in call.at(name, "B")
        }
        yield "with other numbers of the same shapes", rolled
    masks = {n: v for n, v in call.tensors().items() if v.dtype == torch.bool}
    masks = {n: v for n, v in masks.items() if n in call.optional}
    if masks:
        yield "with another mask", {n: v.flip(-1) for n, v in masks.items()}
        yield "without a mask", dict.fromkeys(masks)
    absent = [n for n in call.optional if call.given.get(n) is None]
    if absent:
        yield "with a mask", {n: _some_mask(call, n) for n in absent}
    if batch > 1:
        yield "with one sentence", call.cut("B", slice(1))
    names = {d for n in call.tensors() for d in call.dims.get(n, ()) if d[0] == "L"}
    if any(call.size(name) > 1 for name in names):
        shorter = call
        for name in sorted(names):
            if call.size(name) > 1:
                changed = call.given | shorter.cut(name, slice(-1))
                shorter = Call(call.target, changed, call.dims, call.results)
        yield "with shorter sentences", dict(shorter.given)


def _some_mask(call: Call, name: str) -> torch.Tensor:
    """A mask of the argument's shape that leaves the first key open to everybody."""
    shape = [call.size(dim) for dim in call.dims[name]]
    grid = torch.arange(int(torch.tensor(shape).prod())).reshape(shape)
    keep = grid * 7 % 5 > 1
    keep[..., 0] = True
    return keep


def alone(call: Call) -> Tries:
    """Each sentence by itself, and the sentences in another order."""
    batch = call.size("B")

    def one_by_one() -> Results:
        each = [slice(b, b + 1) for b in range(batch)]
        return _together([call(**call.cut("B", part)) for part in each], call)

    yield "as a batch", call
    yield "sentence by sentence", one_by_one
    yield "with the sentences in another order", partial(_in_another_order, call)


def _in_another_order(call: Call) -> Results:
    batch = call.size("B")
    order = torch.arange(batch).roll(1)
    turned: Named = {}
    for name, value in call.tensors().items():
        for i in call.at(name, "B"):
            value = value.index_select(i, order) if value.size(i) > 1 else value
        turned[name] = value
    return {
        name: value.index_select(call.results[name].index("B"), order.argsort())
        for name, value in call(**turned).items()
        if _has_batch(value, call.results[name], batch)
    }


def _has_batch(value: torch.Tensor, dims: tuple[str, ...], batch: int) -> bool:
    if "B" not in dims or value.dim() != len(dims):
        return False
    return value.size(dims.index("B")) == batch


def _together(apart: list[Results], call: Call) -> dict[str, torch.Tensor]:
    joined = {}
    for name, dims in call.results.items():
        parts = [found[name] for found in apart]
        if "B" in dims and len({p.shape for p in parts}) == 1:
            joined[name] = torch.cat(
                parts, dim=min(dims.index("B"), parts[0].dim() - 1)
            )
    return joined


def spread(call: Call) -> Tries:
    """Inputs that do not lie in memory as usual: transposed, or expanded from one."""
    yield "for inputs as usual", call
    crosswise = {
        name: value.mT.contiguous().mT
        for name, value in call.tensors().items()
        if value.dim() > 1
    }
    yield "for inputs that are transposed views", partial(call, **crosswise)
    batch = call.size("B")
    if batch > 1:
        first = call.cut("B", slice(1))
        for name, value in first.items():
            if 0 in call.at(name, "B"):
                first[name] = value.expand(batch, *value.shape[1:])
        yield "for inputs that are expanded views", partial(call, **first)


def training(call: Call) -> Tries:
    """Eval and training mode, with dropout that drops nothing, where there is one."""
    yield "in eval mode", call
    with _training_mode(call):
        yield "in training mode", call


@contextlib.contextmanager
def _training_mode(call: Call) -> Iterator[None]:
    """Training mode; dropout that nobody has promised does what it does."""
    with dropout_is(_nothing) if call.drops else contextlib.nullcontext():
        call.target.train()
        yield
        call.target.eval()


def dropout(call: Call) -> Tries:
    """Training mode with a stand-in for dropout: without chance, its place is seen."""

    def first_result() -> Results:
        call.target.train()
        with dropout_is(_shrink):
            chance, found = _left_to_chance(call), call()
        call.target.eval()
        # Dropout made by hand is chance, and says nothing here: other cases see it.
        if chance:
            raise ByHand
        name = next(iter(found))
        return {name: found[name]}

    yield "in eval mode", call
    yield "in training mode, with a stand-in for dropout", first_result


class ByHand(Exception):
    """Chance that does not come from PyTorch's dropout."""


BY_HAND = {"chance": "by hand"}  # the whole answer in that case


def by_hand(inputs: Inputs, answers: Answers) -> bool:
    """Whether a case asked for dropout's place, and its chance is made by hand.

    Such dropout cannot be replaced by a stand-in; other cases look at its effect.
    """
    parts = json.loads(str(inputs[KEY]))["parts"] if KEY in inputs else []
    return answers == BY_HAND and [part["way"] for part in parts] == ["dropout"]


def gradient(call: Call) -> Tries:
    """Gradients of a weighted sum of the results, by arguments and parameters.

    Of a module's results only the first: its weights may be there to look at. They are
    taken in training mode, where they are needed; only if it drops numbers by hand,
    which cannot be held still, in eval mode.
    """

    def learning() -> Results:
        if not isinstance(call.target, nn.Module):
            return _gradients(call)
        with _training_mode(call):
            if not (call.drops and _left_to_chance(call)):
                return _gradients(call)
        return _gradients(call)

    yield "", learning


def _left_to_chance(call: Call) -> bool:
    (name, once), twice = next(iter(call().items())), call()
    return not torch.equal(once, twice[name])


def _pulled(value: torch.Tensor) -> torch.Tensor:
    """A weighted sum of all numbers."""
    weights = torch.arange(value.numel(), dtype=value.dtype).cos()
    return (value * weights.reshape(value.shape)).sum()


def _gradients(call: Call) -> Results:
    leaves = {
        name: value.clone().requires_grad_()
        for name, value in call.tensors().items()
        if value.is_floating_point()
    }
    results = list(call(**leaves).values())
    pulled = results[:1] if isinstance(call.target, nn.Module) else results
    total = sum(map(_pulled, pulled), torch.zeros(()))
    if isinstance(call.target, nn.Module):
        own = dict(call.target.named_parameters())
        leaves |= {name: own[name] for name in call.weights if name in own}
    learning = [name for name, leaf in leaves.items() if leaf.requires_grad]
    found: dict[str, Any] = {}
    if total.requires_grad:
        wanted = [leaves[name] for name in learning]
        grads = torch.autograd.grad(total, wanted, allow_unused=True)
        found = dict(zip(learning, grads, strict=True))
    return {
        f"gradient of {name}": torch.zeros_like(leaf)
        if found.get(name) is None
        else found[name]
        for name, leaf in leaves.items()
    }


def loaded(call: Call) -> Tries:
    """Another module, made in the same way, that has loaded this one's state."""

    def from_state() -> Results:
        assert call.make is not None, "only a module that is made is loaded"
        second = call.make()
        second.load_state_dict(call.target.state_dict())
        return replace(call, target=second.eval())()

    yield "of the first module", call
    yield "of a second module with the state of the first", from_state


WAYS: dict[str, Way] = {
    way.__name__: way
    for way in (plain, steady, alone, spread, training, dropout, gradient, loaded)
}


@contextlib.contextmanager
def dropout_is(stand_in: Callable[..., torch.Tensor]) -> Iterator[None]:
    """Have PyTorch's dropout be something without chance for a while."""

    def single_numbers(
        input: torch.Tensor,
        p: float = 0.5,
        training: bool = True,
        inplace: bool = False,
    ) -> torch.Tensor:
        return stand_in(input, p) if training else input

    def whole_blocks(
        input: torch.Tensor,
        p: float = 0.5,
        training: bool = True,
        inplace: bool = False,
    ) -> torch.Tensor:
        return input * 0 if training and p else input

    functional: Any = torch.nn.functional
    top: Any = torch
    saved = {name: getattr(functional, name) for name in ("dropout", *_BLOCKS)}
    direct = top.dropout
    functional.dropout = top.dropout = single_numbers
    for name in _BLOCKS:
        setattr(functional, name, whole_blocks)
    try:
        yield
    finally:
        top.dropout = direct
        for name, function in saved.items():
            setattr(functional, name, function)


_BLOCKS = ("dropout1d", "dropout2d", "dropout3d", "alpha_dropout")


def _nothing(x: torch.Tensor, p: float) -> torch.Tensor:
    return x


def _shrink(x: torch.Tensor, p: float) -> torch.Tensor:
    """Takes from each feature its own share: neither a norm nor a sum undoes that.

    All shares are positive, so that before or after a ReLU is the same, as for dropout.
    """
    places = torch.arange(x.size(-1), dtype=x.dtype)
    return x * (1 - p) * (1 + places.cos() / 2) if p else x


# --- how a probe's call is caught -----------------------------------------------------


class _Caught(BaseException):
    """Ends a probe at its first call; no handler of ordinary errors sees it."""

    def __init__(self, target: Any, args: tuple[Any, ...], keywords: Named):
        super().__init__()
        self.target, self.args_given, self.keywords = target, args, keywords


def tried(probe: Report, answer: object, inputs: Inputs) -> Seen:
    """What an object does in the ways that ``inputs["property"]`` asks for."""
    asked = json.loads(str(inputs[KEY]))
    seen: dict[str, Any] = {}
    for part in asked["parts"]:
        prefix = part["inputs"]
        own = {
            n.removeprefix(prefix): v for n, v in inputs.items() if n.startswith(prefix)
        }
        for label, find_out in _observed(part, asked, probe, answer, own):
            kind = f"({part['label']})" if label and part["label"] else part["label"]
            ending = " ".join(filter(None, (label, kind)))
            try:
                found = find_out()
            except ByHand:
                return BY_HAND
            except Exception as error:
                error.add_note(ending)
                raise
            seen |= {
                f"{name}, {ending}".removesuffix(", "): v for name, v in found.items()
            }
    return seen


def _observed(
    part: Named, asked: Named, probe: Report, answer: Any, inputs: Inputs
) -> Iterator[tuple[str, Callable[[], Any]]]:
    if part["way"] == "probe":  # the exercise's own, in a sequence of several inputs
        copies = {n: v.clone() if _copied(v) else v for n, v in inputs.items()}
        yield "", partial(probe, answer, copies)
    else:
        yield from WAYS[part["way"]](caught(probe, answer, inputs, asked["call"]))


def caught(probe: Report, answer: Any, inputs: Inputs, form: Named) -> Call:
    """The first call that a probe makes of an object, or of the module it makes.

    Raises:
        WrongAnswer: the probe never gets that far.
    """
    made: list[Callable[[], Any]] = []

    def function(*args: Any, **keywords: Any) -> Any:
        raise _Caught(answer, args, keywords)

    def module(*args: Any, **keywords: Any) -> Any:
        made.append(lambda: answer(*args, **keywords))
        return _watched(made[-1]())

    try:
        probe(module if form["module"] else function, dict(inputs))
    except _Caught as call:
        return _call(call, form, inputs, made[0] if made else None)
    raise WrongAnswer("expected something that can be called")


def _watched(module: object) -> object:
    """A module whose next call is caught."""
    if not isinstance(module, nn.Module):
        return module
    kind = type(module)

    def caught_call(self: Any, *args: Any, **keywords: Any) -> Any:
        self.__class__ = kind
        raise _Caught(self, args, keywords)

    module.__class__ = type(kind.__name__, (kind,), {"__call__": caught_call})
    return module


def _call(
    call: _Caught, form: Named, inputs: Inputs, make: Callable[[], Any] | None
) -> Call:
    names = list(form["arguments"])
    given = dict(zip(names, call.args_given, strict=False))
    given |= {n: call.keywords.pop(n) for n in names if n in call.keywords}
    given = {n: given.get(n) for n in names if n in given or n in form["optional"]}
    dims = {n: _fitting(form["arguments"][n], v) for n, v in given.items()}
    return Call(
        call.target, given, dims, form["results"], tuple(form["optional"]),
        call.keywords, tuple(n[8:] for n in inputs if n.startswith("weights.")), make,
        form["drops"],
    )  # fmt: skip


def _fitting(forms: list[list[str]], value: object) -> tuple[str, ...]:
    """The names of a tensor's dimensions: of several forms, the one of its rank."""
    if isinstance(value, torch.Tensor):
        fitting = [form for form in forms if len(form) == value.dim()]
        return tuple(fitting[0]) if fitting else ()
    return tuple(forms[-1])
