"""Shifted sequences."""

from __future__ import annotations

from typing import Any

from autograder.checks.probes import Inputs, Seen, probe, returned, tensor


@probe(
    "encoder_decoder/shifted",
    results="inputs",
    calls="* afterwards",
    parts={"targets": "targets"},
)
def shifted(function: Any, inputs: Inputs) -> Seen:
    """Report both tensors, and the ids afterwards."""
    ids = inputs["ids"]
    names = ("inputs", "targets")
    pair = returned(function(ids, *inputs["special"].tolist()), *names)
    observations = {n: tensor(v, f"the {n}") for n, v in zip(names, pair, strict=True)}
    return observations | {"ids afterwards": ids}
