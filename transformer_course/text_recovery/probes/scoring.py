"""Probes of unit 06: BLEU and resampling."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any

import torch

from autograder.checks.probes import Inputs, Seen, kind, probe, returned
from transformer_course.text_recovery.probes.observing import read_number, write_json


@probe(
    "text_recovery/bleu",
    results="BLEU; BLEU (cut at spaces)",
    form="kind of BLEU",
    calls="* afterwards",
)
def bleu(function: Callable[..., Any], inputs: Inputs) -> Seen:
    """Report the student's BLEU with its default tokenizer and with words as tokens."""
    hypotheses = json.loads(inputs["hypotheses"])
    references = json.loads(inputs["references"])
    score = function(hypotheses, references)
    split_score = function(hypotheses, references, str.split)
    return {
        "BLEU": read_number(score, "BLEU"),
        "BLEU (cut at spaces)": read_number(split_score, "BLEU"),
        "kind of BLEU": kind(score),
        "hypotheses afterwards": write_json(hypotheses, "the hypotheses"),
        "references afterwards": write_json(references, "the references"),
    }


_INTERVAL = ("low", "high", "wins")


@probe(
    "text_recovery/paired_bootstrap", results="low; high; wins", calls="* afterwards"
)
def paired_bootstrap(function: Callable[..., Any], inputs: Inputs) -> Seen:
    """Report the interval of the difference in score, and the second system's wins.

    The generator's next number shows how many numbers were drawn.
    """
    first, second = inputs["first"], inputs["second"]
    rng, resamples = random.Random(int(inputs["seed"])), int(inputs["resamples"])
    extra = [resamples] if resamples else []
    interval = returned(function(first, second, _score, rng, *extra), *_INTERVAL)
    pairs = zip(_INTERVAL, interval, strict=True)
    return {name: read_number(value, name) for name, value in pairs} | {
        "first afterwards": first,
        "second afterwards": second,
        "the generator's next number afterwards": torch.tensor(rng.randrange(10**6)),
    }


def _score(total: torch.Tensor) -> float:
    """Return a score of summed counts (matches, total, length).

    It is nonlinear like BLEU, so a mean instead of the sum is detected.
    """
    matches, count, length = map(float, total.tolist())
    return 100 * (matches / count) ** 2 * count / (length + 50)
