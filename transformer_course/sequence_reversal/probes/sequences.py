"""The probe of unit 05's batches."""

from __future__ import annotations

from typing import Any

from autograder.checks.probes import Inputs, Seen, probe, returned, tensor


@probe(
    "sequence_reversal/make_batch",
    results="source",
    calls="* afterwards",
    parts={"target": "target"},
)
def make_batch(function: Any, inputs: Inputs) -> Seen:
    """Report source and target of sequences like "7 5 9; 6", and these afterwards."""
    rows = [[int(i) for i in row.split()] for row in inputs["sequences"].split(";")]
    sequences = tuple(rows) if "held" in inputs else rows
    source, target = returned(function(sequences), "source", "target")
    return {
        "source": tensor(source, "the source"),
        "target": tensor(target, "the target"),
        "sequences afterwards": "; ".join(" ".join(map(str, row)) for row in rows),
    }
