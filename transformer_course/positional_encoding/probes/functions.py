"""Embedding, tables, and functions of positions."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import torch

from autograder.checks.probes import Inputs, Seen, probe, tensor
from transformer_course.positional_encoding.probes.observing import (
    comes_to,
    gradient,
    number,
)


@probe(
    "positional_encoding/embed",
    results="vectors",
    calls="table afterwards; ids afterwards",
    learning="gradient of *",
)
def embed(function: Any, inputs: Inputs) -> Seen:
    """Report the vectors, which table rows they depend on, and the table afterwards."""
    table = inputs["table"].requires_grad_()
    padding_idx = int(inputs["padding_idx"]) if "padding_idx" in inputs else None
    vectors = tensor(function(inputs["ids"], table, padding_idx), "the vectors")
    return {
        "vectors": vectors,
        **gradient("table", vectors, table, inputs["pull"]),
        "table afterwards": table,
        # What reaches the rows of a table that somebody else goes on with.
        **gradient("the table's sum afterwards", table.sum(), table, torch.ones(())),
        "ids afterwards": inputs["ids"],
    }


@probe("positional_encoding/shuffle_gap", results="gap of *", calls="* afterwards")
def shuffle_gap(function: Any, inputs: Inputs) -> Seen:
    """Report the gaps of the mixers named in ``inputs``, and x afterwards."""
    x, order = inputs["x"], inputs["order"]
    gaps = {
        f"gap of {name}": number(function(MIXERS[name], x, order), "the gap")
        for name in inputs["mixers"].split(", ")
    }
    return {**gaps, "x afterwards": x}


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


@probe("positional_encoding/table_by_loops", results="table")
def table_by_loops(function: Any, inputs: Inputs) -> Seen:
    """Report the table for one size."""
    table = function(int(inputs["max_len"]), int(inputs["d_model"]))
    return {"table": tensor(table, "the table")}


@probe(
    "positional_encoding/sinusoid",
    results="encoding; steps for 50 positions; with an odd d_model; with d_model = 1",
    calls="* afterwards",
)
def sinusoid(function: Any, inputs: Inputs) -> Seen:
    """Report the encoding, positions afterwards, and what an odd d_model leads to."""
    positions, d_model = inputs["positions"], int(inputs["d_model"])
    encoding = tensor(function(positions, d_model), "the encoding")
    observations = {"encoding": encoding, "positions afterwards": positions}
    if "odd d_model" in inputs:
        odd = int(inputs["odd d_model"])
        observations["with an odd d_model"] = comes_to(lambda: function(positions, odd))
        observations["with d_model = 1"] = comes_to(lambda: function(positions, 1))
    if "loops" in inputs:
        short_steps, long_steps = _steps(function, 5), _steps(function, 50)
        observations["steps for 50 positions"] = (
            "more than for 5" if long_steps > short_steps + 20 else "as many as for 5"
        )
    return observations


def _steps(function: Any, count: int) -> int:
    """Count the function calls that encoding some positions takes, Python's own too."""
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


@probe(
    "positional_encoding/shift_matrix",
    results="matrix of *; each call returns a new matrix, for *",
)
def shift_matrix(function: Any, inputs: Inputs) -> Seen:
    """Report the matrices of two shifts."""
    d_model, observations = int(inputs["d_model"]), Seen()
    for name, text in (("k", "the first shift"), ("other k", "the second shift")):
        first, second = (function(int(inputs[name]), d_model) for _ in range(2))
        observations[f"matrix of {text}"] = tensor(first, "the matrix")
        observations[f"each call returns a new matrix, for {text}"] = (
            "no" if first is second else "yes"
        )
    return observations
