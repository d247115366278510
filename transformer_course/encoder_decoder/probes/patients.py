"""Decoder layers for the bug clinic, correct ones and ones with a bug."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence

import torch
from torch import nn

from transformer_course.encoder_decoder.probes.bugs import BUGS, Step


class DecoderLayer(nn.Module):
    """A decoder layer that has one of the `BUGS`, or none if ``bug`` is "".

    x is (..., B, Lt, d_model), memory (..., B, Ls, d_model).

    Args:
        style: "pre" or "post" (norm), then "relu" or "gelu", as in "post relu". A
            third word, "rounding", adds rounding errors.
    """

    def __init__(self, d_model: int, num_heads: int, d_ff: int, style: str, bug: str):
        super().__init__()
        # "pre" or "post" norm, "relu" or "gelu", and perhaps "rounding"
        norm_place, activation, *rounding = style.split()
        self.norm_place, self.bug, self.rounding = norm_place, BUGS[bug], bool(rounding)
        bend = {"relu": nn.ReLU, "gelu": nn.GELU}[activation]()
        out = nn.Linear(d_ff, d_model)
        self.network = nn.Sequential(nn.Linear(d_model, d_ff), bend, out)
        cross = _RoundingAttention if rounding else _Attention
        self.attentions = nn.ModuleList(
            attention(d_model, num_heads) for attention in (_Attention, cross)
        )
        self.norms = nn.ModuleList(nn.LayerNorm(d_model) for _ in range(3))

    def forward(self, x: torch.Tensor, memory: torch.Tensor) -> torch.Tensor:
        """The output (..., B, Lt, d_model) for x and memory."""
        return self.bug.change_output(self._run_sublayers(x, memory))

    def compute_batches(
        self, x: Sequence[torch.Tensor], memory: Sequence[torch.Tensor]
    ) -> list[torch.Tensor]:
        """Compute the outputs for pairs of x and memory of equal shapes at once."""
        if len(x) == 1:
            return [self.forward(x[0], memory[0])]
        through = self._run_sublayers(torch.stack(list(x)), torch.stack(list(memory)))
        return [self.bug.change_output(batch) for batch in through]

    def _run_sublayers(self, x: torch.Tensor, memory: torch.Tensor) -> torch.Tensor:
        """The output of the three sublayers, before `bug.change_output`."""
        attend_memory = functools.partial(self._attend_memory, memory)
        branches: list[Step] = [self._attend_self, attend_memory, self._feed_forward]
        x = self.bug.change_x(x)
        for norm, branch in zip(self.norms, branches, strict=True):
            if self.norm_place == "pre":
                x = x + branch(norm.forward(x))
            else:
                x = norm.forward(x + branch(x))
        return x

    def _attend_self(self, x: torch.Tensor) -> torch.Tensor:
        """Apply self-attention to x; a bug may change the input, mask or output."""
        context = self.bug.attend(self.attentions[0], x, self.bug.mask(x))
        return self.bug.change_context(context)

    def _attend_memory(self, memory: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
        """Cross-attention to the memory; the bug may change memory and output."""
        mask = self.bug.memory_mask(x.size(-2), memory.size(-2))
        source = self.bug.change_memory(memory)
        return self.bug.change_cross_context(
            self.attentions[-1].forward(x, source, mask)
        )

    def _feed_forward(self, x: torch.Tensor) -> torch.Tensor:
        """The feed-forward network, which no bug changes."""
        into, bend, out = self.network
        result: torch.Tensor = out.forward(bend.forward(into.forward(x)))
        return result


class _Attention(nn.Module):
    """Multi-head attention; a mask that is not Boolean is added to the scores."""

    def __init__(self, d_model: int, num_heads: int):
        super().__init__()
        self.num_heads = num_heads
        self.maps = nn.ModuleList(nn.Linear(d_model, d_model) for _ in range(4))

    def forward(
        self, x: torch.Tensor, source: torch.Tensor, mask: torch.Tensor | None = None
    ) -> torch.Tensor:
        """Attend from x (..., B, Lq, d_model) to the source (..., B, Lk, d_model)."""
        to_query, to_key, to_value, out = self.maps
        q = self._split_heads(to_query.forward(x))
        k = self._split_heads(to_key.forward(source))
        v = self._split_heads(to_value.forward(source))
        scores = self._compute_scores(q, k)  # (..., B, h, Lq, Lk)
        if mask is not None and mask.dtype == torch.bool:
            scores = torch.where(mask, scores, -math.inf)
        elif mask is not None:
            scores = scores + mask
        heads = scores.softmax(-1) @ v
        result: torch.Tensor = out.forward(heads.transpose(-3, -2).flatten(-2))
        return result

    def _split_heads(self, x: torch.Tensor) -> torch.Tensor:
        """From (..., L, d_model) to (..., h, L, d_k)."""
        split = x.reshape(*x.shape[:-1], self.num_heads, x.size(-1) // self.num_heads)
        return split.transpose(-3, -2)

    def _compute_scores(self, q: torch.Tensor, k: torch.Tensor) -> torch.Tensor:
        """The scaled scores (..., h, Lq, Lk)."""
        return q @ k.mT / math.sqrt(q.size(-1))


class _RoundingAttention(_Attention):
    """Attention whose results differ from those of `_Attention` only by rounding.

    A student's test has to tolerate such differences.
    """

    def _compute_scores(self, q: torch.Tensor, k: torch.Tensor) -> torch.Tensor:
        scores = super()._compute_scores(q, k)
        all_scores = scores.detach()
        return scores - (all_scores.amax() + all_scores.mean())
