"""Probes of unit 05's language model: the sampling distribution, and perplexity."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import torch

from autograder.checks.exercise import WrongAnswerError
from autograder.checks.probes import (
    Inputs,
    Seen,
    describe,
    outcome,
    probe,
    returned,
)
from autograder.checks.probes.default import observe_call


@probe(
    "sequence_reversal/sampling_distribution",
    results="probabilities; tokens that are forbidden and may come; "
    "something was drawn",
    calls="* afterwards",
    errors="error at the temperature *",
)
def sampling_distribution(function: Callable[..., Any], inputs: Inputs) -> Seen:
    """Report the probabilities that the student's function returns, and three checks.

    They are about random numbers, the temperatures 0 and -1, and logits of -inf.
    """
    random_state = torch.random.get_rng_state()
    observations = observe_call(function, inputs)
    is_drawn = not torch.equal(random_state, torch.random.get_rng_state())
    logits = inputs["logits"]
    for temperature in (0.0, -1.0):
        call = partial(function, logits.clone(), temperature)
        observations[f"error at the temperature {temperature:g}"] = outcome(
            call, ValueError
        )
    forbidden = _count_wrongly_allowed(observations["probabilities"], logits)
    return observations | {
        "tokens that are forbidden and may come": forbidden,
        "something was drawn": str(is_drawn),
    }


def _count_wrongly_allowed(
    probabilities: torch.Tensor, logits: torch.Tensor
) -> torch.Tensor:
    """The number of tokens with the logit -inf whose probability is not exactly 0."""
    if probabilities.shape != logits.shape:
        return torch.tensor(0)  # comparing the probabilities reports the wrong shape
    return (probabilities[logits == -torch.inf] != 0).sum()


@probe(
    "sequence_reversal/perplexity",
    results="nats",
    calls="* afterwards",
    parts={"perplexity": "perplexity"},
)
def perplexity(function: Callable[..., Any], inputs: Inputs) -> Seen:
    """Report the mean loss in nats and the perplexity that the function returns.

    It gets the batches as a generator, which can be read only once.
    """
    count = sum(name.startswith("logits") for name in inputs)
    batches = ((inputs[f"logits {n}"], inputs[f"labels {n}"]) for n in range(count))
    numbers = returned(function(batches), "nats", "perplexity")
    observations = {
        name: _read_float(number, name)
        for name, number in zip(("nats", "perplexity"), numbers, strict=True)
    }
    return observations | {"labels afterwards": inputs["labels 0"]}


def _read_float(value: object, name: str) -> torch.Tensor:
    """Convert a Python float to a tensor; raise WrongAnswerError for other types."""
    if not isinstance(value, float):
        raise WrongAnswerError(f"expected {name} as a float, got {describe(value)}")
    return torch.tensor(value)
