"""Probes of the shuffle gap and of the sinusoidal encoding."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import torch

from autograder.checks.probes import Inputs, Seen, outcome, probe
from autograder.checks.probes.default import observe_call, read_arguments


@probe("positional_encoding/shuffle_gap", results="gap of *", calls="* afterwards")
def shuffle_gap(function: Any, inputs: Inputs) -> Seen:
    """Report the gap of each mixer that ``inputs["mix"]`` names, and x after the call.

    The gap is how much shuffling x changes what a mixer returns.
    """
    observations: Seen = {}
    for name in inputs["mix"].split(", "):
        observations |= observe_call(function, {**inputs, "mix": MIXERS[name]})
        observations[f"gap of {name}"] = observations.pop("the gap")
    return observations


Mixer = Callable[[torch.Tensor], torch.Tensor]
MIXERS: dict[str, Mixer] = {
    "the average": lambda x: x.mean(1, keepdim=True).expand_as(x),
    "the running sum": lambda x: x.cumsum(1),
    "a mix by similarity": lambda x: (x @ x.mT / 4).softmax(-1) @ x,
    "what it is given": lambda x: x,
    "the last vector": lambda x: x[:, -1:].expand_as(x),
    "each vector by itself": lambda x: x.square() - x,
    "the step from the neighbour": lambda x: x - x.roll(1, dims=1),
    "the running sum of all sentences": lambda x: (
        x.cumsum(1).sum(0, keepdim=True).expand_as(x)
    ),
    "each word without the batch's mean": lambda x: x - x.mean(0, keepdim=True),
}


@probe(
    "positional_encoding/sinusoid",
    results="encoding; with an odd d_model; with d_model = 1",
    form="steps for 50 positions",
    calls="* afterwards",
)
def sinusoid(function: Any, inputs: Inputs) -> Seen:
    """Report the encoding, and whether the function loops over positions.

    If d_model is odd, report only how the function refuses it.
    """
    arguments = read_arguments(inputs)
    positions, d_model = arguments["positions"], arguments["d_model"]
    if d_model % 2:
        return {
            "with an odd d_model": outcome(
                lambda: function(positions, d_model), ValueError
            ),
            "with d_model = 1": outcome(lambda: function(positions, 1), ValueError),
        }
    observations = observe_call(function, inputs)
    short_steps, long_steps = _count_steps(function, 5), _count_steps(function, 50)
    # A loop would make at least one more call for each of the 45 more positions.
    observations["steps for 50 positions"] = (
        "more than for 5" if long_steps > short_steps + 20 else "as many as for 5"
    )
    return observations


def _count_steps(function: Any, count: int) -> int:
    """Count the calls of Python and C functions during the encoding of positions.

    If the function loops over positions, the result grows with ``count``.
    """
    positions, steps = torch.arange(count), 0

    def step(_: object, event: str, __: object) -> None:
        nonlocal steps
        steps += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(step)
    try:
        function(positions, 4)
    finally:
        sys.setprofile(before)
    return steps
