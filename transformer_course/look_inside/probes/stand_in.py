"""A tiny language model for probes of interpretability; its weights are in the case."""

from __future__ import annotations

import torch
from torch import nn

from autograder.checks.probes import Inputs
from autograder.checks.probes.weights import load_weights, select_weights


class StandInError(RuntimeError):
    """Raised by the stand-in model on purpose, in the middle of a run."""


class Attention(nn.Module):
    """Causal attention without queries and keys: weights decrease with the distance.

    The weight of head n at distance d is proportional to (n + 2) ** -d.
    """

    def __init__(self, d_model: int, num_heads: int, num_kv_heads: int):
        super().__init__()
        self.num_heads, self.num_kv_heads = num_heads, num_kv_heads
        d_k = d_model // num_heads
        # There are no queries and keys: the weights depend on the distance only.
        self.w_v = nn.Linear(d_model, num_kv_heads * d_k, bias=False)
        self.w_o = nn.Linear(num_heads * d_k, d_model, bias=False)
        self.merged = torch.zeros(0)  # the input of w_o in the last call

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return the output for the vectors ``x``, both of shape `(B, L, d_model)`."""
        values = self.w_v(x).unflatten(-1, (self.num_kv_heads, -1)).transpose(1, 2)
        copies = self.num_heads // self.num_kv_heads
        values = values.repeat_interleave(copies, dim=1)  # (B, h, L, d_k)
        distance = torch.arange(x.size(1))[:, None] - torch.arange(x.size(1))
        # Head n gives the distance d a weight proportional to (n + 2) ** -d.
        bases = torch.arange(2, self.num_heads + 2).to(x.dtype)[:, None, None]
        weights = (bases ** -distance.clamp(min=0).to(x.dtype)).tril()  # (h, L, L)
        heads = weights / weights.sum(-1, keepdim=True) @ values  # (B, h, L, d_k)
        self.merged = heads.transpose(1, 2).flatten(2)  # (B, L, h * d_k)
        output: torch.Tensor = self.w_o(self.merged)
        return output


class StandInBlock(nn.Module):
    """A block with two residual branches: attention, and the tanh of a linear layer."""

    def __init__(self, d_model: int, num_heads: int, num_kv_heads: int):
        super().__init__()
        self.attention = Attention(d_model, num_heads, num_kv_heads)
        self.feed_forward = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Add both branches; keeps the shape `(B, L, d_model)`."""
        x = x + self.attention(x)
        return x + torch.tanh(self.feed_forward(x))


class StandIn(nn.Module):
    """A language model with the weights in ``inputs``; maps ids `(B, L)` to logits.

    If its attribute ``fails`` is set, a call raises `StandInError`.
    """

    def __init__(self, inputs: Inputs):
        super().__init__()
        vocab_size, d_model = inputs["weights.embedding.weight"].shape
        heads = inputs["heads"].tolist()
        count = sum(name.endswith("w_o.weight") for name in select_weights(inputs))
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.blocks = nn.ModuleList(StandInBlock(d_model, *heads) for _ in range(count))
        self.output = nn.Linear(d_model, vocab_size, bias=False)
        self.calls = 0
        self.fails = False
        load_weights(self, inputs)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        """Return the logits `(B, L, V)` for the token after each position.

        Raises:
            StandInError: ``fails`` is set; raised when the blocks have run.
        """
        self.calls += 1
        x = self.embedding(ids)
        for block in self.blocks:
            x = block(x)
        if self.fails:
            raise StandInError
        normed = x / x.square().mean(-1, keepdim=True).add(1e-6).sqrt()
        logits: torch.Tensor = self.output(normed)
        return logits


def count_hooks(model: nn.Module) -> int:
    """The number of hooks on all modules of a model."""
    return sum(
        len(part._forward_hooks) + len(part._forward_pre_hooks)
        for part in model.modules()
    )
