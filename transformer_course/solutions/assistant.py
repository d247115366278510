"""Built from notebooks/08_assistant.py by `make build`; do not edit."""

from jaxtyping import Float, Int
from torch import Tensor, nn
from transformer_course.solutions import sequence_reversal as reversal
import torch
import torch.nn.functional as F


def group_advantages(
    rewards: Float[Tensor, "P S"], eps: float = 1e-4
) -> Float[Tensor, "P S"]:
    """How much better each answer is than its group (Shao et al. 2024, section 4.1).

    Args:
        rewards: of S answers to each of P prompts.
        eps: added to the standard deviation.

    Returns:
        The advantage of each answer.
    """
    centred = rewards - rewards.mean(dim=-1, keepdim=True)  # (P, S)
    spread = centred.square().mean(dim=-1, keepdim=True).sqrt()  # (P, 1)
    return centred / (spread + eps)


def grpo_loss(
    logits: Float[Tensor, "N T V"],
    written: Int[Tensor, "N T"],
    advantages: Float[Tensor, "N"],
) -> Float[Tensor, ""]:
    """The loss of sampled answers, weighted with their advantages (Shao et al. 2024).

    Args:
        logits: for each token of the answers.
        written: the answers, int64; `reversal.PAD` after the end.
        advantages: one per answer.

    Returns:
        The loss.
    """
    real = written != reversal.PAD  # (N, T)
    log_p = logits.log_softmax(-1).gather(-1, written.unsqueeze(-1)).squeeze(-1)
    means = (log_p * real).sum(dim=1) / real.sum(dim=1)  # (N,)
    return -(advantages * means).mean()
