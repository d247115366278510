"""The probe of the model that is handed in."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any

import torch

from autograder.checks.exercise import WrongAnswerError
from autograder.checks.probes import Inputs, Seen, describe, probe
from autograder.library import checkpoint
from autograder.units.text_recovery.probes.observing import as_json, text


def _recovered(function: Callable[..., Any], inputs: Inputs) -> Seen:
    """The recovered texts; the answer has the name of its measure."""
    sources = json.loads(inputs["sources"])
    texts = function(list(sources))
    if not isinstance(texts, Iterable) or isinstance(texts, str):
        raise WrongAnswerError(f"expected a list of texts, got {describe(texts)}")
    texts = [text(t, "each of them") for t in texts]
    if len(texts) != len(sources):
        raise WrongAnswerError(f"expected {len(sources)} texts, got {len(texts)}")
    return {"bleu": as_json(texts, "the texts")}


@probe("text_recovery/model", here=_recovered, results="bleu; copied")
def model(function: Callable[..., Any], inputs: Inputs) -> Seen:
    """A sample of recovered texts, and the file whose weights they should come from.

    The judge decodes all of the sources, with those weights.
    """
    seen = _recovered(function, {"sources": inputs["sample"]})
    path = checkpoint.handed_in()
    if path.is_file() and 0 < path.stat().st_size <= checkpoint.LIMIT + 2**20:
        data = bytearray(path.read_bytes())
        seen = {**seen, "checkpoint": torch.frombuffer(data, dtype=torch.uint8)}
    return seen
