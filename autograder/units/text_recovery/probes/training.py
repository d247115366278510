"""Probes of unit 06: the loss, and the loss on dev."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch import nn

from autograder.checks.probes import Inputs, Log, Seen, kind, probe, tensor
from autograder.library.text import PAD
from autograder.units.text_recovery.probes.observing import number


@probe("text_recovery/smoothed_loss", results="loss; gradient", calls="* afterwards")
def smoothed_loss(function: Callable[..., Any], inputs: Inputs) -> Seen:
    """The loss, its gradient, and the inputs afterwards."""
    logits, target = inputs["logits"], inputs["target"]
    if "view" in inputs:  # as `shift` gives it: a part of another tensor
        target = torch.cat((target[:, :1], target), dim=1)[:, 1:]
    extra = [float(inputs["smoothing"])] if "smoothing" in inputs else []
    leaf = logits.clone().requires_grad_()
    loss = tensor(function(leaf.clone(), target, *extra), "the loss")
    seen = {"loss": loss}
    if loss.requires_grad and loss.dim() == 0:
        seen["gradient"] = torch.autograd.grad(loss, leaf)[0]
    return seen | {"target afterwards": target}


class Part(nn.Module):
    """Makes all scores larger in training mode, as a stand-in for dropout."""

    def forward(self, scores: torch.Tensor) -> torch.Tensor:
        """The scores (B, Lt, V), larger in training mode."""
        return scores * (1.5 if self.training else 1.0)


class Table(nn.Module):
    """A tiny model: logits (B, Lt, V) looked up by target token and source.

    It notes its mode, and whether gradients are recorded, each time it is asked.
    """

    def __init__(self, table: torch.Tensor, events: Log):
        super().__init__()
        self.table = nn.Parameter(table.clone())
        self.bias = nn.Parameter(torch.zeros_like(table[0]))
        self.part = Part()  # as dropout is: a module within, with a mode of its own
        self.events = events

    def forward(self, source: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        mode = "training" if self.training else "evaluation"
        self.events.append(f"forward in {mode}")
        if not torch.is_grad_enabled():
            self.events.append("without gradients")
        logits = self.table[target] + 0.5 * self.table[source[:, :1]] + self.bias
        scores: torch.Tensor = self.part(logits)
        return scores


def _loss(logits: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    return F.cross_entropy(logits.flatten(0, -2), target.flatten(), ignore_index=PAD)


def _smoothed(logits: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    """Another loss: a quarter of the probability is spread, late columns cost more."""
    price = F.cross_entropy(
        logits.flatten(0, -2), target.flatten(), ignore_index=PAD, label_smoothing=0.25,
        reduction="none",
    ).view_as(target)  # fmt: skip
    late = 1 + torch.arange(target.size(-1)) / 8
    return (price * late).sum() / (target != PAD).sum()


def _batches(inputs: Inputs) -> list[tuple[torch.Tensor, ...]]:
    count = int(inputs["batches"])
    parts = ("source", "target_in", "target_out")
    return [tuple(inputs[f"{part} {i}"] for part in parts) for i in range(count)]


@probe(
    "text_recovery/evaluate",
    results="mean loss; modes",
    calls="kind of the mean loss; * afterwards",
    learning="gradients are recorded",
)
def evaluate(function: Callable[..., Any], inputs: Inputs) -> Seen:
    """The mean loss, what the model noted, its mode and its weights afterwards."""
    events = Log()
    model = Table(inputs["table"], events).train(bool(inputs["training"]))
    model.bias.grad = torch.ones_like(model.bias)  # of somebody who trained it, and
    model.bias.requires_grad_(False)  # has frozen it since
    try:
        torch.set_grad_enabled(model.training)  # who evaluates has switched them off
        by = _smoothed if "smoothed" in inputs else _loss
        loss = function(model, iter(_batches(inputs)), by)
        recorded = torch.is_grad_enabled()
    finally:
        torch.set_grad_enabled(True)
    modes = {e for e in events if e.startswith("forward")}
    return {
        "mean loss": number(loss, "the mean loss"),
        "kind of the mean loss": kind(loss),
        "modes": ", ".join(sorted(modes)),
        "gradients are recorded": str("without gradients" not in events),
        "in training mode afterwards": str(model.training),
        "parts in training mode afterwards": str(model.part.training),
        "learns afterwards": str(model.table.requires_grad),
        "gradients are recorded afterwards": str(recorded),
        "frozen afterwards": str(not model.bias.requires_grad),
        "gradient afterwards": torch.zeros_like(model.bias)
        if model.bias.grad is None
        else model.bias.grad,
        "table afterwards": model.table,
    }
