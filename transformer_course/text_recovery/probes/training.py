"""The probe of label smoothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from autograder.checks.probes import Inputs, Seen, probe, tensor


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
