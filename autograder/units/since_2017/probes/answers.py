"""Probes of group advantages and of the loss that they enter."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from autograder.checks.probes import Inputs, Seen, options, probe, tensor


@probe("since_2017/group_advantages", results="advantages", calls="* afterwards")
def group_advantages(function: Callable[..., Any], inputs: Inputs) -> Seen:
    """The advantages, and the rewards afterwards."""
    rewards = inputs["rewards"]
    found = tensor(function(rewards, **options(inputs)), "the advantages")
    return {"advantages": found, "rewards afterwards": rewards}


@probe(
    "since_2017/grpo_loss",
    results="loss",
    calls="* afterwards",
    learning="gradient of the logits",
)
def grpo_loss(function: Callable[..., Any], inputs: Inputs) -> Seen:
    """The loss, its gradient with respect to the logits, and all inputs afterwards."""
    logits = inputs["logits"]
    others = inputs["written"], inputs["advantages"]
    loss = tensor(function(logits, *others), "the loss")
    leaf = logits.clone().requires_grad_()
    again = function(leaf * 1, *others)  # a leaf could not be changed in place
    gradient = torch.zeros_like(leaf)
    if again.requires_grad and again.numel() == 1:
        found = torch.autograd.grad(again.sum(), leaf, allow_unused=True)[0]
        gradient = gradient if found is None else found
    return {
        "loss": loss,
        "gradient of the logits": gradient,
        "logits afterwards": logits,
        "written afterwards": others[0],
        "advantages afterwards": others[1],
    }
