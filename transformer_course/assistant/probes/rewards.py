"""Probes of learning from rewards."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from autograder.checks.probes import Inputs, Seen, gradients, options, probe, tensor


@probe("assistant/group_advantages", results="advantages", calls="* afterwards")
def group_advantages(function: Callable[..., Any], inputs: Inputs) -> Seen:
    """The advantages, and the rewards afterwards."""
    rewards = inputs["rewards"]
    found = tensor(function(rewards, **options(inputs)), "the advantages")
    return {"advantages": found, "rewards afterwards": rewards}


@probe(
    "assistant/grpo_loss",
    results="loss",
    calls="* afterwards",
    learning="gradient of the logits",
)
def grpo_loss(function: Callable[..., Any], inputs: Inputs) -> Seen:
    """The loss, its gradient with respect to the logits, and all inputs afterwards."""
    logits = inputs["logits"]
    others = inputs["written"], inputs["advantages"]
    loss = tensor(function(logits, *others), "the loss")

    def again(logits: torch.Tensor) -> torch.Tensor:
        found: torch.Tensor = function(logits, *others)
        return found.sum() if found.numel() == 1 else found

    pull = {"pull": torch.ones(())}
    return {
        "loss": loss,
        **gradients(again, [logits], ["the logits"], pull),
        "logits afterwards": logits,
        "written afterwards": others[0],
        "advantages afterwards": others[1],
    }
