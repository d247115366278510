"""Decoders with a cache, right ones and ones with a bug, for the clinic."""

from __future__ import annotations

import torch

from transformer_course.since_2017.probes.bugs import (
    BUGS,
    Group,
    Pair,
    Turned,
    normed,
)

LONGEST = 32  # positions


class Decoder:
    """One attention layer between two products with an embedding, and its cache.

    Args:
        style: "grows" keeps what was fed in tensors that grow; "ahead" writes it into
            tensors that were made ahead. That one keeps to the rules to the letter: it
            reads no text that is too long, and nothing before it was started.
        bug: one of the `BUGS`.
    """

    def __init__(self, style: str, bug: str, vocab_size: int, heads: int, groups: int):
        d_k, self.vocab_size = 6, vocab_size
        size = heads * d_k
        self._style, self._bug, self._sizes = style, BUGS[bug], (heads, groups, d_k)
        self._table = torch.randn(vocab_size, size)  # (V, d)
        # Queries, keys and values in one matrix, (d, (h + 2 g) d_k).
        self._maps = torch.randn(size, (heads + 2 * groups) * d_k) / size**0.5
        self._out = torch.randn(size, size) / size**0.5
        speeds = torch.logspace(0, -2, d_k // 2)
        angles = torch.arange(2 * LONGEST)[:, None] * speeds
        self._points = torch.polar(torch.ones_like(angles), angles)  # (2 L, d_k / 2)
        self._forget()
        self._ready = style == "grows"

    def start(self) -> None:
        """Forget what was fed."""
        self._ready = True
        if self._bug.starts:
            self._forget()

    def _forget(self) -> None:
        self._fed, self._places, self._written = 0, 0, 0
        self._keys: torch.Tensor | None = None
        self._values: torch.Tensor | None = None

    def cut(self, length: int) -> None:
        """Forget all but the first positions that were fed."""
        if self._keys is None or self._values is None:
            return
        self._fed = min(self._bug.keeps(length, self._fed), self._fed)
        if self._bug.cuts_places:
            self._places = self._fed
        if self._style == "grows":
            self._keys = self._keys[:, :, : self._fed]
            if self._bug.cuts_values:
                self._values = self._values[:, :, : self._fed]

    def full(self, ids: torch.Tensor) -> torch.Tensor:
        """Logits of a whole text, without a cache."""
        if self._style == "ahead" and ids.size(1) > LONGEST:
            raise ValueError(f"texts have at most {LONGEST} positions")
        x = self._table[ids]  # (B, L, d)
        q, k, v = self._projected(normed(x), 0)
        return self._logits(x, q, (k, v), 0, BUGS[""].group)

    def feed(self, ids: torch.Tensor) -> torch.Tensor:
        """Compute the logits of new positions."""
        if not self._ready:
            raise RuntimeError("call start before the first feed")
        bug, past, new = self._bug, self._fed, ids.size(1)
        x = self._table[ids]
        q, k, v = bug.projects(self._projected, bug.norms(x), self._places)
        cache = bug.reads(*self._extend_cache(k, v, past))
        self._fed = past + new
        self._places += new
        logits = self._logits(x, q, cache, bug.past(past, new), bug.group)
        return bug.outputs(logits) if past else logits

    def _extend_cache(self, k: torch.Tensor, v: torch.Tensor, past: int) -> Pair:
        """Append new keys and values to the stored ones, and store them for later."""
        if self._style == "grows":
            if self._keys is not None and self._values is not None:
                k = torch.cat((self._keys, k), dim=2)
                v = torch.cat((self._values, v), dim=2)
            self._keys, self._values = k, v
            return k, v
        if self._keys is None or self._values is None:
            self._keys = k.new_zeros(*k.shape[:2], 2 * LONGEST, k.size(-1))
            self._values = torch.zeros_like(self._keys)
        end = past + k.size(2)
        if not self._bug.rewrites and past < self._written:
            old_end = min(end, self._written)
            k = torch.cat(
                (self._keys[:, :, past:old_end], k[:, :, old_end - past :]), 2
            )
        self._written = max(self._written, end)
        self._keys[:, :, past:end], self._values[:, :, past:end] = k, v
        return self._keys[:, :, :end], self._values[:, :, :end]

    def _projected(self, x: torch.Tensor, place: int) -> Turned:
        """Queries, keys and values; neighbours are the real and imaginary parts."""
        heads, groups, d_k = self._sizes
        rows = (x @ self._maps).unflatten(-1, (-1, d_k)).transpose(1, 2)
        turning, v = rows[:, :-groups], rows[:, -groups:]  # (B, ..., L, d_k)
        points = torch.view_as_complex(turning.unflatten(-1, (-1, 2)))
        points = points * self._points[place : place + x.size(1)]
        turned = torch.view_as_real(points).flatten(-2)
        return turned[:, :heads], turned[:, heads:], v

    def _logits(
        self, x: torch.Tensor, q: torch.Tensor, cache: Pair, past: int, group: Group
    ) -> torch.Tensor:
        """Compute logits of positions after `past` others, each head with its group."""
        heads, groups, d_k = self._sizes
        k, v = (
            part[:, [group(n, heads, groups) for n in range(heads)]] for part in cache
        )
        scores = q @ k.mT / d_k**0.5  # (B, h, L, Lk)
        if x.size(1) > 1:  # else it is the newest, and sees all
            hidden = torch.ones(scores.shape[-2:], dtype=torch.bool).triu(past + 1)
            scores = scores.masked_fill(hidden, -torch.inf)
        context = (scores.softmax(-1) @ v).transpose(1, 2).flatten(2)
        logits: torch.Tensor = (x + context @ self._out) @ self._table.T
        return logits
