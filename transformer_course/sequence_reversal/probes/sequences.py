"""Probes of unit 05: batches, and the attention weights on the anti-diagonal."""

from __future__ import annotations

from typing import Any

import torch

from autograder.checks.probes import Inputs, Seen, kind, probe, returned, tensor
from transformer_course.sequence_reversal.probes.observing import read_number


@probe(
    "sequence_reversal/make_batch",
    results="source",
    calls="* afterwards",
    parts={"target": "target"},
)
def make_batch(function: Any, inputs: Inputs) -> Seen:
    """Report the student's source and target, and the sequences afterwards.

    The function gets a list of sequences or, if the case contains "held", a tuple.
    """
    rows = [[int(i) for i in row.split()] for row in inputs["sequences"].split(";")]
    sequences = tuple(rows) if "held" in inputs else rows
    source, target = returned(function(sequences), "source", "target")
    return {
        "source": tensor(source, "the source"),
        "target": tensor(target, "the target"),
        "sequences afterwards": "; ".join(" ".join(map(str, row)) for row in rows),
    }


@probe(
    "sequence_reversal/antidiagonal_share",
    results="share",
    form="kind of the share",
    calls="* afterwards",
)
def antidiagonal_share(function: Any, inputs: Inputs) -> Seen:
    """Report the student's result, its type, and both arguments after the call.

    The result is the share of steps that attend most to the anti-diagonal.
    """
    weights, lengths = inputs["weights"], inputs["lengths"]
    if "head" in inputs:  # a view into the maps of several heads, not contiguous
        weights = torch.stack((-weights, weights, weights / 2), dim=1)[:, 1]
    share = function(weights, lengths)
    dtype = torch.get_default_dtype()
    return {
        "share": torch.tensor(read_number(share, "the share"), dtype=dtype),
        "kind of the share": kind(share),
        "weights afterwards": weights,
        "lengths afterwards": lengths,
    }
