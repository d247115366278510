"""Probes of the feed-forward network, of add-and-norm, and of whole layers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import nn

from autograder.checks.probes import Inputs, Seen, join_names, probe
from autograder.checks.probes.default import (
    MAKE,
    call_with_inputs,
    create_module,
    observe_call,
)
from autograder.checks.probes.weights import INITIALISATION, load_weights

_RATE = f"{MAKE}dropout"
_probe_layer = partial(
    probe,
    calls="* afterwards",
    gradients="gradient of *",
    learning=f"{INITIALISATION}; parameters",
)


@_probe_layer(
    "encoder_decoder/feed_forward",
    results="output; output in training*",
)
def feed_forward(module_class: Any, inputs: Inputs) -> Seen:
    """Report what the default probe reports, and the output with dropout, if any.

    For a single vector, the latter is a mean over many copies of x, so that the random
    choices average out.
    """
    observations = observe_call(module_class, inputs)
    if _RATE not in inputs:
        return observations
    module = load_weights(create_module(module_class, inputs), inputs).train()
    # Such a case drops everything, so its output is not random.
    if inputs["x"].dim() > 1:
        training = call_with_inputs(module, inputs)["output"]
        return observations | {"output in training": training}
    leaf = inputs["x"].clone().requires_grad_()
    module(leaf).sum().backward()  # so that a faulty backward pass fails
    with torch.no_grad():
        outputs = module(inputs["x"].expand(_ROWS, -1))
    return observations | {"output in training, on average": outputs.mean(0)}


_ROWS = 1 << 15  # repetitions of a single vector


@_probe_layer(
    "encoder_decoder/encoder_layer",
    results="output; output in training; factors on branch ?; dropped together",
)
@_probe_layer(
    "encoder_decoder/decoder_layer",
    results="output; output in training; factors on branch ?; dropped together",
)
def layer(module_class: Any, inputs: Inputs) -> Seen:
    """Report a call of an encoder or decoder layer, and the effects of any dropout."""
    observations = observe_call(module_class, inputs)
    if _RATE in inputs:
        module = load_weights(create_module(module_class, inputs), inputs).train()
        # Everything is dropped, so the output is not random.
        if inputs[_RATE] > _CHANCE:
            training = call_with_inputs(module, inputs)["output"]
            observations["output in training"] = training
        else:
            observations |= _observe_chance(module, inputs)
    return observations


_CHANCE = 0.5  # cases with a higher rate drop everything, so nothing is random


@torch.no_grad()
def _observe_chance(module: nn.Module, inputs: Inputs) -> Seen:
    """Report by which factors dropout changes each branch, and what it drops together.

    The layer is pre-norm; its weights let each branch add 1 to its own features.
    """
    parameters = dict(module.named_parameters())
    for parameter in parameters.values():
        parameter.zero_()
    # All parameters are 0 now. The last bias of each of the k branches becomes 1 at
    # every k-th feature, so these features of the output show what dropout does to it.
    last_biases = sorted(
        n for n in parameters if n.endswith(("w_o.bias", "linear2.bias"))
    )
    for branch, name in enumerate(last_biases):
        parameters[name][branch :: len(last_biases)] = 1.0
    added = torch.sub(call_with_inputs(module, inputs)["output"], inputs["x"])
    factors = added.round(decimals=3).abs().unflatten(-1, (-1, len(last_biases)))
    observations: Seen = {}
    for branch, values in enumerate(factors.unbind(-1)):
        texts = ", ".join(f"{value:g}" for value in values.unique()[:3].tolist())
        observations[f"factors on branch {branch}"] = texts
    # Along such an axis all factors are equal: it is dropped as a whole.
    together = [
        axis
        for dim, axis in enumerate(("sentences", "positions", "features"))
        if (factors == factors.narrow(dim, 0, 1)).all()
    ]
    return observations | {"dropped together": join_names(together)}


@probe(
    "encoder_decoder/add_and_norm",
    results="output; calls",
    calls="* afterwards",
    gradients="gradient of x",
    mode="output in eval mode; calls, also in eval mode",
)
def add_and_norm(function: Any, inputs: Inputs) -> Seen:
    """Report the output and how often each part was called, in training and eval mode.

    The parts are a sublayer, a norm and a dropout, which ``inputs`` name; see `_PARTS`.
    """
    parts = {name: _PARTS[inputs[name]](inputs["x"].size(-1)) for name in _NAMES}
    calls = Counter(dict.fromkeys(parts, 0))
    for name, part in parts.items():
        part.register_forward_hook(lambda *_, name=name: calls.update([name]))

    def list_calls() -> str:
        """Return each part's number of calls so far, as in "sublayer 1, norm 1"."""
        return ", ".join(f"{name} {count}" for name, count in calls.items())

    in_eval = {**inputs, **parts, "x": inputs["x"].clone()}
    observations = observe_call(function, {**inputs, **parts})
    observations["calls"] = list_calls()
    for part in parts.values():
        part.eval()
    with torch.no_grad():
        output = call_with_inputs(function, in_eval)["output"]
    return observations | {
        "output in eval mode": output,
        "calls, also in eval mode": list_calls(),
        "x in eval mode afterwards": in_eval["x"],
    }


class _Sublayer(nn.Module):
    """A sublayer to pass to `add_and_norm`: nonlinear, and it mixes positions."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.tanh(x + 0.5 * x.roll(1, dims=1))


class _Shrink(nn.Module):
    """A deterministic replacement for dropout, which shows where dropout is applied."""

    p = 0.0  # claims to drop nothing, but has to be called nevertheless

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return 0.25 * x + 0.5


def _create_norm(size: int) -> nn.Module:
    """A LayerNorm whose weights and biases are not the default ones."""
    norm = nn.LayerNorm(size)
    norm.weight.data = torch.linspace(0.5, 2, size)
    norm.bias.data = torch.arange(-1.0, size - 1)
    return norm


_NAMES = ("sublayer", "norm", "dropout")
_PARTS: dict[str, Callable[[int], nn.Module]] = {
    "one that mixes positions": lambda size: _Sublayer(),
    "a LayerNorm": _create_norm,
    "one that shrinks": lambda size: _Shrink(),
    "the identity": lambda size: nn.Identity(),
}
