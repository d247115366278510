"""The ways in which a call is made again."""

from __future__ import annotations

import contextlib
import copy
import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import torch
from torch import nn

from autograder.student.properties.call import Call, Named, Results
from autograder.student.properties.stand_in import dropout_is, nothing, shrink

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
    if isinstance(call.target, nn.Module):
        # Each has a way of its own: here only what they leave behind is of interest.
        with contextlib.suppress(Exception), dropout_is(nothing):
            call.target.train()
            call()
        call.target.eval()
    else:
        yield "after the first result was written over", partial(_written_over, call)
    other = _other_numbers(call)
    if other:
        yield "with other numbers of the same shapes", partial(call, **other)
        yield "with other numbers in the same tensors", partial(call.refilled, **other)
    for label, changed in _others(call):
        yield label, partial(call, **changed)
    yield "the same at the end", call


def _written_over(call: Call) -> Results:
    """The results of a second call, while those of a first one are changed."""
    with written_over(call()):
        return call()


@contextlib.contextmanager
def written_over(results: Results) -> Iterator[None]:
    """Have the results of a call be something else for a while, as a caller may."""
    own = [v.detach() for v in results.values() if isinstance(v, torch.Tensor)]
    saved = [value.clone() for value in own]
    for value in own:
        with contextlib.suppress(RuntimeError):  # one that was expanded is left alone
            value.logical_not_() if value.dtype == torch.bool else value.add_(1)
    try:
        yield
    finally:
        for value, before in zip(own, saved, strict=True):
            with contextlib.suppress(RuntimeError):
                value.copy_(before)


def _other_numbers(call: Call) -> dict[str, torch.Tensor]:
    """The arguments, if they are a batch, with each sentence's numbers turned over."""
    if call.size("B") == 1:
        return {}
    return {
        name: -value.roll(1, 0) if value.is_floating_point() else value.roll(1, 0)
        for name, value in call.tensors().items()
        if value.dtype != torch.bool and 0 in call.at(name, "B")
    }


def _others(call: Call) -> Iterator[tuple[str, Named]]:
    """Other arguments: masks, sizes."""
    batch = call.size("B")
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


def _together(apart: list[Results], call: Call) -> Results:
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
    with dropout_is(nothing) if call.drops else contextlib.nullcontext():
        call.target.train()
        yield
        call.target.eval()


def dropout(call: Call) -> Tries:
    """Training mode with a stand-in for dropout: without chance, its place is seen.

    So is on how many numbers it acts: one draw for several of them drops them together.
    """

    def first_result() -> Results:
        acted_on = 0

        def counted(x: torch.Tensor, p: float) -> torch.Tensor:
            nonlocal acted_on
            acted_on += x.numel() if p else 0
            return shrink(x, p)

        call.target.train()
        with dropout_is(shrink):
            chance = _left_to_chance(call)
        with dropout_is(counted):
            found = call()
        call.target.eval()
        # Dropout made by hand is chance, and says nothing here: other cases see it.
        if chance:
            raise ByHand
        name = next(iter(found))
        return {name: found[name], "numbers dropped or kept": torch.tensor(acted_on)}

    def learning() -> Results:
        with dropout_is(shrink):
            call.target.train()
            found = _gradients(call)
            call.target.eval()
        return found

    yield "in eval mode", call
    yield "in training mode, with a stand-in for dropout", first_result
    yield "in training mode, with a stand-in for dropout", learning


class ByHand(Exception):
    """Chance that does not come from PyTorch's dropout."""


BY_HAND = {"chance": "by hand"}  # the whole answer in that case


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
    # Of a second call with the same tensors: what the first one has kept must not be
    # cut from the graph.
    results = list(call.twice(**leaves).values())
    pulled = results[:1] if isinstance(call.target, nn.Module) else results
    total = sum(map(_pulled, pulled), torch.zeros(()))
    if isinstance(call.target, nn.Module):
        own = dict(call.target.named_parameters())
        leaves |= {name: own[name] for name in call.weights if name in own}
    learning = [name for name, leaf in leaves.items() if leaf.requires_grad]
    found: dict[str, Any] = {}
    if total.requires_grad and learning:
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

    halved = copy.deepcopy(call.target)
    with torch.no_grad():
        for parameter in halved.parameters():
            parameter.mul_(0.5)
    yield "of the first module", call
    yield "of a second module with the state of the first", from_state
    yield "of a copy with half of each weight", replace(call, target=halved)


def start(call: Call) -> Tries:
    """What weights hold before anything is learnt, in words."""
    yield "", partial(_started, call)


def _started(call: Call) -> Results:
    assert call.make is not None, "only a module that is made has start values"
    first, second = (dict(call.make().named_parameters()) for _ in range(2))
    names = [n for n in call.weights if n in first and first[n].dim() > 1]
    return {
        f"start of {name}": _start(
            first[name], second[name], {n: first[n] for n in names[: names.index(name)]}
        )
        for name in names
    }


def _start(
    value: nn.Parameter, twin: torch.Tensor, others: dict[str, nn.Parameter]
) -> str:
    """What a matrix of weights starts as; ``twin`` is that of another module."""
    numbers = value.detach()
    if not value.requires_grad:
        return "frozen"
    if (numbers == numbers.flatten()[0]).all():
        return "all numbers alike"
    if len(numbers.unique(dim=0)) < len(numbers):
        return "some rows alike"
    if torch.equal(numbers, twin):
        return "the same in every module"
    for name, other in others.items():
        if torch.equal(numbers, other):
            return f"the same as {name}"
    # The usual size is about one over the root of how many numbers come in.
    size = float(numbers.square().mean().sqrt())
    if not size < max(3.0, 10 / math.sqrt(numbers.size(-1))):
        return "far too large, or no numbers"
    return "at random"


def closed(call: Call) -> Tries:
    """Scores in the millions: closed keys get nothing, however small the open ones.

    Results are reported as shares of their largest number.
    """
    masks = [v for v in call.tensors().values() if v.dtype == torch.bool]
    if not masks:
        return

    def far() -> Results:
        large = {
            name: value * 1024
            for name, value in call.tensors().items()
            if value.is_floating_point()
        }
        return {
            name: value / value.abs().amax().clamp(min=1)
            for name, value in call(**large).items()
        }

    yield "", far


WAYS: dict[str, Way] = {
    way.__name__: way
    for way in (
        plain,
        steady,
        alone,
        spread,
        training,
        dropout,
        gradient,
        loaded,
        start,
        closed,
    )
}
