"""The probe of the trained language model."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from autograder.checks.exercise import Answers, WrongAnswerError
from autograder.checks.interactor import Ask, Interactor
from autograder.checks.probes import Inputs, Seen, describe, probe, tensor
from autograder.checks.probes.weights import weights_of, with_weights

_OTHER = "the weights of this model are not those of a `new_model()`"


class _Reader(Interactor):
    """The judge's side: measures the student's weights in the course's model.

    Thus a model that predicts text in a different way gains nothing.
    """

    keeps = frozenset({"windows"})

    def conclude(self, answers: Answers) -> Seen:
        """Report what `examine` finds for the course's model with these weights."""
        unit = importlib.import_module("transformer_course.solutions.since_2017")
        model = with_weights(unit.new_model(), answers, _OTHER)
        return examine(model, self.inputs["windows"].long())


def _observe_in_notebook(function: Callable[..., Any], inputs: Inputs) -> Seen:
    """Measure the student's model in the notebook's own process."""
    return examine(_read_model(function), inputs["windows"].long())


@probe(
    "since_2017/trained_model",
    interactor=_Reader,
    in_notebook=_observe_in_notebook,
    results="nats; likelihood",
)
def trained_model(function: Callable[..., Any], inputs: Inputs, ask: Ask) -> Seen:
    """Report the weights of the student's model, by their names."""
    return weights_of(_read_model(function))


def _read_model(function: Callable[..., Any]) -> nn.Module:
    """Call the student's function, and check that it returns a module."""
    model = function()
    if not isinstance(model, nn.Module):
        raise WrongAnswerError(f"expected an nn.Module, got {describe(model)}")
    return model.cpu().eval()


def examine(model: nn.Module, windows: torch.Tensor) -> Seen:
    """Report the mean loss per byte ("nats") on windows of bytes `(N, L + 1)`.

    Also describe in a few words what the model does ("likelihood").
    """
    contexts, wanted = windows[:, :-1], windows[:, 1:]
    total, repeats = 0.0, 0
    with torch.no_grad():
        for ids, targets in zip(contexts.split(64), wanted.split(64), strict=True):
            logits = tensor(model(ids), "the logits")
            if (
                logits.dim() != 3
                or logits.shape[:2] != ids.shape
                or logits.size(2) < 128
            ):
                raise WrongAnswerError(
                    f"expected logits (B, L, 128) with B, L = {tuple(ids.shape)}, "
                    f"got {tuple(logits.shape)}"
                )
            log_probs = logits.double().log_softmax(-1).gather(-1, targets[..., None])
            total -= log_probs.sum().item()
            repeats += int((logits.argmax(-1) == ids).sum())
        # Changing the last byte must not change the logits of earlier positions.
        sample = contexts[:8]
        changed = sample.clone()
        changed[:, -1] = ord("~")
        future = (model(sample) - model(changed))[:, :-1].abs().max() > 1e-3
    nats = total / wanted.numel()
    likelihood = _describe_likelihood(nats, repeats / wanted.numel(), bool(future))
    # The finding has the name of the measure that it belongs to, "likelihood".
    return {"nats": torch.tensor(nats, dtype=torch.float64), "likelihood": likelihood}


def _describe_likelihood(nats: float, repeat_share: float, future: bool) -> str:
    """Describe in a few words what a model does, from its mean loss per byte.

    ``repeat_share`` is how often it predicts the byte that it sees, and ``future``
    whether a later byte changes earlier logits.
    """
    if future:
        return "the future moves the present"
    if repeat_share > 0.5:
        return "repeats the byte that it sees"
    # What a model does at least if its loss is below this many nats.
    kinds = (
        (0.9, "writes"),
        (1.6, "knows words"),
        (2.7, "knows which byte follows which"),
        (4.2, "knows how often each byte occurs"),
    )
    return next((kind for most, kind in kinds if nats < most), "knows nothing")
