"""Decoder layers, right ones and ones with a bug, for the clinic."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import torch
import torch.nn.functional as F
from torch import nn


class DecoderLayer(nn.Module):
    """A decoder layer, "post relu" or "pre gelu", with at most one bug.

    After "rounding", as in "post relu rounding", each number of a batch rounds
    differently if any other one changes. A test calls a layer a hundred times, so its
    parts are not called as modules, which takes as long as what they compute, and
    several batches of one shape go through it together: x is (..., B, Lt, d_model),
    memory (..., B, Ls, d_model).
    """

    def __init__(self, d_model: int, num_heads: int, d_ff: int, style: str, bug: str):
        super().__init__()
        first, activation, *rounding = style.split()
        bends = {"relu": nn.ReLU, "gelu": nn.GELU}[activation]()
        narrows = nn.Linear(d_ff, d_model, bias=bug != "no bias")
        self.thinking = nn.Sequential(nn.Linear(d_model, d_ff), bends, narrows)
        cross = _RoundingAttention if rounding else _Attention
        others = [_Attention] * (2 if bug == "two memories" else 1)
        self.seeing = nn.ModuleList(
            each(d_model, num_heads) for each in (*others, cross)
        )
        if bug == "one attention":
            self.seeing[1] = self.seeing[0]
        self.norms = nn.ModuleList(nn.LayerNorm(d_model) for _ in range(3))
        self.first, self.bug, self.rounding = first, bug, bool(rounding)

    def forward(self, x: torch.Tensor, memory: torch.Tensor) -> torch.Tensor:
        return self._end(self._through(x, memory))

    def together(
        self, x: Sequence[torch.Tensor], memory: Sequence[torch.Tensor]
    ) -> list[torch.Tensor]:
        """The outputs for several batches of one shape."""
        if len(x) == 1:
            return [self.forward(x[0], memory[0])]
        through = self._through(torch.stack(list(x)), torch.stack(list(memory)))
        return [self._end(each) for each in through]

    def _through(self, x: torch.Tensor, memory: torch.Tensor) -> torch.Tensor:
        norms = list(self.norms)
        branches: list[Callable[..., Any]] = [
            self._own, self._memory(memory), self._think
        ]  # fmt: skip
        if self.bug == "two memories":
            branches.insert(1, lambda x: self.seeing[2].forward(x, memory))
        if self.bug == "shifts":
            x = F.pad(x[..., :-1, :], (0, 0, 1, 0))
        if self.bug == "last unread" and x.size(-2) > 1:
            x = torch.cat((x[..., :-1, :], x[..., -2:-1, :]), dim=-2)
        for index, branch in enumerate(branches):
            norm = norms[min(index, len(norms) - 1)].forward
            x = x + branch(norm(x)) if self.first == "pre" else norm(x + branch(x))
        return x

    def _end(self, x: torch.Tensor) -> torch.Tensor:
        ends: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
            "squeezes": torch.squeeze,
            "narrow": lambda x: x[..., :1],
        }
        return ends[self.bug](x) if self.bug in ends else x

    def _think(self, x: torch.Tensor) -> Any:
        into, bend, out = self.thinking
        return out.forward(bend.forward(into.forward(x)))

    def _own(self, x: torch.Tensor) -> Any:
        attention: Any = self.seeing[0]
        batch, length, _ = x.shape[-3:]
        seen = attention.forward(x, x, self._own_mask(batch, length, x.dtype))
        if self.bug == "unpacks" or (self.bug == "unpacks pairs" and batch == 2):
            seen, _ = seen.unbind(-3)
            return seen.unsqueeze(-3)
        if self.bug == "mixes the batch":
            return seen.mean(-3, keepdim=True)
        if self.bug == "no past":
            return attention.maps[3](attention.maps[2](x))
        return seen

    def _own_mask(
        self, batch: int, length: int, dtype: torch.dtype
    ) -> torch.Tensor | None:
        """Causal, as far as the bug lets it be."""
        mask = _triangle(length, length, 1 if self.bug == "one ahead" else 0)
        match self.bug:
            case "no mask":
                return None
            case "first unseen":
                mask[1:, 0] = False
            case "short sight":
                mask = mask.triu(-1)
            case "soft mask":
                return torch.where(mask, 0.0, -6.0).to(dtype)
            case "mask of the first two":
                later = torch.arange(batch) > 1
                return mask | later[:, None, None, None]
        return mask

    def _memory(self, memory: torch.Tensor) -> Callable[..., Any]:
        def branch(x: torch.Tensor) -> Any:
            cross = self.seeing[-1].forward
            target, source = x.size(-2), memory.size(-2)
            if self.bug == "causal memory":
                return cross(x, memory, _triangle(target, source))
            if self.bug == "square of the target":
                square = _triangle(target, target, target)
                return cross(x, memory, square[:, :source])
            if self.bug == "square of the memory":
                square = _triangle(source, source, source)
                return cross(x, memory, square[:target])
            if self.bug == "last asks":
                last = torch.arange(target) == target - 1
                return cross(x, memory) * last[:, None]
            if self.bug == "mixes memories":
                mean = memory.mean(-3, keepdim=True)
                return cross(x, mean.expand_as(memory))
            if self.bug == "last leaks":
                return cross(x, memory + memory[..., -1:, :, :])
            if self.bug == "first leaks":
                return cross(x, memory + memory[..., :1, :, :])
            if self.bug == "short memory":
                return cross(x, memory[..., :-1, :])
            if self.bug == "late memory":
                return cross(x, memory[..., 1:, :])
            return cross(x, memory)

        return branch


class _Attention(nn.Module):
    """Multi-head attention; a mask may also be numbers that are added to the scores."""

    def __init__(self, d_model: int, num_heads: int):
        super().__init__()
        self.num_heads = num_heads
        self.maps = nn.ModuleList(nn.Linear(d_model, d_model) for _ in range(4))

    def forward(
        self, x: torch.Tensor, source: torch.Tensor, mask: torch.Tensor | None = None
    ) -> torch.Tensor:
        to_query, to_key, to_value, out = self.maps
        q = self._split(to_query.forward(x))
        k = self._split(to_key.forward(source))
        v = self._split(to_value.forward(source))
        scores = self._scores(q, k)  # (..., B, h, Lq, Lk)
        if mask is not None and mask.dtype == torch.bool:
            scores = torch.where(mask, scores, -math.inf)
        elif mask is not None:
            scores = scores + mask
        heads = scores.softmax(-1) @ v
        result: torch.Tensor = out.forward(heads.transpose(-3, -2).flatten(-2))
        return result

    def _split(self, x: torch.Tensor) -> torch.Tensor:
        split = x.reshape(*x.shape[:-1], self.num_heads, x.size(-1) // self.num_heads)
        return split.transpose(-3, -2)

    def _scores(self, q: torch.Tensor, k: torch.Tensor) -> torch.Tensor:
        return q @ k.mT / math.sqrt(q.size(-1))


class _RoundingAttention(_Attention):
    """The same numbers up to rounding: one number is taken from all scores.

    It cancels in the weights, but it moves with any position of any sentence.
    """

    def _scores(self, q: torch.Tensor, k: torch.Tensor) -> torch.Tensor:
        scores = super()._scores(q, k)
        all_scores = scores.detach()
        return scores - (all_scores.amax() + all_scores.mean())


def _triangle(rows: int, columns: int, ahead: int = 0) -> torch.Tensor:
    """Each row sees the columns up to its own number, and some ahead."""
    return torch.ones(rows, columns, dtype=torch.bool).tril(ahead)
