"""Probes of learning from rewards."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from autograder.checks.probes import Inputs, Seen, gradients, options, probe, tensor


@probe("assistant/group_advantages", results="advantages", calls="* afterwards")
def group_advantages(function: Callable[..., Any], inputs: Inputs) -> Seen:
    """Report the advantages, and the rewards afterwards."""
    rewards = inputs["rewards"]
    advantages = tensor(function(rewards, **options(inputs)), "the advantages")
    return {"advantages": advantages, "rewards afterwards": rewards}


@probe(
    "assistant/grpo_loss",
    results="loss",
    calls="* afterwards",
    learning="gradient of the logits",
)
def grpo_loss(function: Callable[..., Any], inputs: Inputs) -> Seen:
    """Report the loss, its gradient for the logits, and all inputs afterwards."""
    logits = inputs["logits"]
    arguments = inputs["written"], inputs["advantages"]
    loss = tensor(function(logits, *arguments), "the loss")

    def compute_loss(logits: torch.Tensor) -> torch.Tensor:
        loss: torch.Tensor = function(logits, *arguments)
        return loss.sum() if loss.numel() == 1 else loss

    pull = {"pull": torch.ones(())}
    return {
        "loss": loss,
        **gradients(compute_loss, [logits], ["the logits"], pull),
        "logits afterwards": logits,
        "written afterwards": arguments[0],
        "advantages afterwards": arguments[1],
    }
