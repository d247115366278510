"""Training steps on conversations for the bug clinic: correct ones and buggy ones."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor


def take_step(
    style: str, bug: str, logits: Tensor, ids: Tensor, answers: Tensor
) -> tuple[Tensor, Tensor]:
    """Return the loss of a batch and its gradient with respect to the logits.

    The step is correct or has a bug, which a student's test is to find. With some
    bugs, the gradient is not that of the returned loss.

    Args:
        style: "labels" or "selected", two correct ways; ignored with a bug.
        bug: the name of the bug, or "".
        logits: `(B, L, V)`.
        ids, answers: `(B, L)`; ``answers`` marks the tokens that the loss includes.
    """
    if not bug and style == "labels":
        leaf = logits.detach().clone().requires_grad_()
        labels = ids.masked_fill(~answers, -100)[:, 1:]
        loss = F.cross_entropy(leaf[:, :-1].transpose(1, 2), labels)
        return _differentiate(loss, leaf)
    loss, gradient = _compute_loss(bug, logits, ids, answers)
    # `_compute_loss` ignores these four bugs, which make loss and gradient disagree.
    if bug == "logs answers, learns all":
        gradient = _compute_loss("questions", logits, ids, answers)[1]
    elif bug == "learns answers, logs less":
        loss = _compute_loss("all tokens in the mean", logits, ids, answers)[0]
    elif bug == "gradient of a sum":
        gradient = gradient * answers[:, 1:].sum()
    elif bug == "uphill":
        gradient = -gradient
    return loss, gradient


def _differentiate(loss: Tensor, leaf: Tensor) -> tuple[Tensor, Tensor]:
    """Detach a loss, and compute its gradient with respect to a leaf."""
    (gradient,) = torch.autograd.grad(loss, leaf)
    return loss.detach(), gradient


def _compute_loss(
    bug: str, logits: Tensor, ids: Tensor, answers: Tensor
) -> tuple[Tensor, Tensor]:
    """Compute the loss with a bug, and its gradient with respect to the logits.

    The arguments are those of `take_step`; without a bug, both results are correct.
    """
    leaf = logits.detach().clone().requires_grad_()
    # The logits at a position predict the token that is this many positions ahead.
    ahead = {"no shift": 0, "two ahead": 2}.get(bug, 1)
    length = ids.size(1) - ahead
    is_learnt = _select(bug, answers)
    begin = 0 if bug == "mask not shifted" else ahead
    weights = is_learnt[:, begin : begin + length].to(leaf.dtype)  # (B, L - ahead)
    losses = F.cross_entropy(
        leaf[:, :length].transpose(1, 2), ids[:, ahead:], reduction="none"
    )
    if bug == "all tokens in the mean":
        loss = (weights * losses).mean()
    elif bug == "mean of rows":
        counts = weights.sum(dim=1)
        rows = (weights * losses).sum(dim=1)[counts > 0] / counts[counts > 0]
        loss = rows.mean()
    else:
        loss = (weights * losses).sum() / weights.sum().clamp(min=1)
    return _differentiate(loss, leaf)


def _select(bug: str, answers: Tensor) -> Tensor:
    """Return the mask (B, L) of tokens in the loss: ``answers``, perhaps with a bug."""
    # Whether the token before, or the one after, also belongs to an answer.
    before, after = F.pad(answers, (1, 0))[:, :-1], F.pad(answers, (0, 1))[:, 1:]
    starts = (answers & ~before).cumsum(dim=1)  # (B, L): number of the answer in a row
    match bug:
        case "questions":
            return torch.ones_like(answers)
        case "no end":
            return answers & after
        case "no start":
            return answers & before
        case "first answer only":
            return answers & (starts == 1)
        case "last answer only":
            return answers & (starts == starts[:, -1:])
        case "first row only":
            return answers & (torch.arange(len(answers)) == 0)[:, None]
    return answers
