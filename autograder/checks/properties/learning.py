"""Ways to call a module in training mode, and gradients of calls."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import torch
from torch import nn

from autograder.checks.probes import take_gradients
from autograder.checks.properties.call import Call, Results, Tries
from autograder.checks.properties.fake_dropout import dropout_is, shrink


def training(call: Call) -> Tries:
    """Yield a call in eval mode and one in training mode, with their labels.

    Only dropout may make a difference between them.
    """
    call.target.eval()
    yield "in eval mode", call
    with _training_mode(call):
        yield "in training mode", call


@contextlib.contextmanager
def _training_mode(call: Call) -> Iterator[None]:
    """Put the called module in training mode; in eval mode when the context ends.

    If the call raises an error, the module stays in training mode.
    """
    call.target.train()
    yield
    call.target.eval()


def dropout(call: Call) -> Tries:
    """Yield calls in eval mode, and in training mode with a stand-in for dropout.

    The stand-in is not random, so the results show where dropout is applied. The
    number of entries that it is applied to is reported as well.
    """

    def first_result() -> Results:
        """The first result, and how many entries dropout is applied to."""
        acted_on = 0

        def count_and_shrink(x: torch.Tensor, p: float) -> torch.Tensor:
            nonlocal acted_on
            acted_on += x.numel() if p else 0
            return shrink(x, p)

        with _training_mode(call):
            with dropout_is(shrink):
                outputs = call()
            with dropout_is(count_and_shrink):
                counted_outputs = call()
        # Dropout that the student implemented is still random; other cases test it.
        name = next(iter(counted_outputs))
        if not torch.equal(outputs[name], counted_outputs[name]):
            raise ByHandError
        return {
            name: counted_outputs[name],
            "numbers dropped or kept": torch.tensor(acted_on),
        }

    def learning() -> Results:
        with dropout_is(shrink), _training_mode(call):
            return _gradients(call)

    yield "in eval mode", call
    yield "in training mode, with a stand-in for dropout", first_result
    yield "in training mode, with a stand-in for dropout", learning


class ByHandError(Exception):
    """Raised if random numbers come from anything but PyTorch's dropout."""


BY_HAND = {"chance": "by hand"}  # the whole answer in that case


def gradient(call: Call) -> Tries:
    """Take gradients of a weighted sum of the results, by argument and parameter.

    A module is in training mode, or in eval mode if training is random.
    """

    def learning() -> Results:
        """Take gradients in training mode, but in eval mode if training is random."""
        if not isinstance(call.target, nn.Module):
            return _gradients(call)
        with _training_mode(call):
            if not _is_random(call):
                return _gradients(call)
        return _gradients(call)

    yield "", learning


def _is_random(call: Call) -> bool:
    """Whether the first result differs between two equal calls."""
    (name, first), second = next(iter(call().items())), call()
    return not torch.equal(first, second[name])


def _sum_weighted(value: torch.Tensor) -> torch.Tensor:
    """Sum a tensor's entries, with weights cos(0), cos(1), ..., to one number.

    The gradient of a plain sum would be the same if entries were exchanged.
    """
    weights = torch.arange(value.numel(), dtype=value.dtype).cos()
    return (value * weights.reshape(value.shape)).sum()


def _gradients(call: Call) -> Results:
    """The gradients by name of argument and parameter; zero where there is no path."""
    leaves = {n: v.clone().requires_grad_() for n, v in call.floats().items()}
    # Those of a second call with the same tensors: if it uses what the first call has
    # stored, that must still be part of the graph.
    results = list(call.twice(**leaves).values())
    outputs = results[:1] if call.shown else results
    total = sum(map(_sum_weighted, outputs), torch.zeros(()))
    if isinstance(call.target, nn.Module):
        parameters = dict(call.target.named_parameters())
        leaves |= {n: parameters[n] for n in call.weights if n in parameters}
    return take_gradients(total, leaves)
