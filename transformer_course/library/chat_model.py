"""SmolLM2-135M-Instruct in forty lines of functions, from ids to logits and back.

A student can replace each function in `Slots` by their own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

BOS, EOS = 1, 2  # the course's ids are the model's own <|im_start|> and <|im_end|>
NUM_BLOCKS, NUM_HEADS, NUM_KV_HEADS = (
    30,
    9,
    3,
)  # three heads of queries share one of keys
MAX_LEN = 25  # tokens of an answer


class SlotError(Exception):
    """A function in a slot cannot be used; the message says in one line why not."""


def embed(ids: Tensor, table: Tensor) -> Tensor:
    """Look up the vectors of the ids."""
    return F.embedding(ids, table)  # (B, L, d_model)


def mask(length: int) -> Tensor:
    """A causal mask: each position may attend to itself and to those before it."""
    return torch.arange(length)[:, None] >= torch.arange(length)  # (L, L)


def split_heads(x: Tensor, num_heads: int) -> Tensor:
    """Split the features into blocks, one for each head."""
    return torch.stack(x.chunk(num_heads, -1), 1)  # (B, h, L, d_k)


def merge_heads(x: Tensor) -> Tensor:
    """Concatenate the features of all heads."""
    return torch.cat(x.unbind(1), -1)  # (B, L, d_model)


def rotate(x: Tensor) -> Tensor:
    """Rotate pairs of features by angles that grow with the position."""
    frequencies = 100_000.0 ** -torch.arange(0, 1, 2 / x.size(-1))  # (d_k / 2,)
    angles = torch.arange(x.size(-2))[:, None] * frequencies  # (L, d_k / 2)
    pairs = torch.view_as_complex(x.unflatten(-1, (-1, 2)))  # (B, h, L, d_k / 2)
    rotated = pairs * torch.polar(torch.ones_like(angles), angles)
    return torch.view_as_real(rotated).flatten(-2)  # (B, h, L, d_k)


def scaled_dot_product_attention(
    q: Tensor, k: Tensor, v: Tensor, mask: Tensor
) -> tuple[Tensor, None]:
    """Attend with PyTorch's function, which does not return the attention weights."""
    return F.scaled_dot_product_attention(q, k, v, mask), None  # (B, h, L, d_k)


def feed_forward(x: Tensor, gate: Tensor, up: Tensor, down: Tensor) -> Tensor:
    """Process each position on its own in a wider, gated layer (SwiGLU)."""
    wide = F.silu(F.linear(x, gate)) * F.linear(x, up)  # (B, L, d_ff)
    return F.linear(wide, down)  # (B, L, d_model)


def add_and_norm(
    x: Tensor,
    sublayer: Callable[[Tensor], Tensor],
    norm: nn.Module,
    dropout: nn.Module,
    norm_first: bool,
) -> Tensor:
    """Return x + sublayer(norm(x)), as in a pre-norm layer.

    ``dropout`` and ``norm_first`` are ignored; unit 4's function has them as well.
    """
    return x + sublayer(norm(x))  # (B, L, d_model)


def greedy_sequence(model: nn.Module, source: Tensor, max_len: int) -> list[int]:
    """Write up to ``max_len`` tokens, each the most probable one, until EOS.

    The new ids are without BOS, and with EOS if it was reached.
    """
    tokens = torch.tensor([[BOS]])
    while tokens.size(1) <= max_len and int(tokens[0, -1]) != EOS:
        best = model(source, tokens)[:, -1:].argmax(-1)  # (1, 1)
        tokens = torch.cat((tokens, best), 1)
    return list(map(int, tokens[0, 1:]))


@dataclass(frozen=True)
class Slots:
    """The functions that the model consists of, each of which can be replaced.

    If ``segment(word, merges)`` is None, the model's tokenizer splits words.
    """

    embed: Callable[..., Tensor] = embed
    mask: Callable[..., Tensor] = mask
    split_heads: Callable[..., Tensor] = split_heads
    merge_heads: Callable[..., Tensor] = merge_heads
    rotate: Callable[..., Tensor] = rotate
    scaled_dot_product_attention: Callable[..., Any] = scaled_dot_product_attention
    feed_forward: Callable[..., Tensor] = feed_forward
    add_and_norm: Callable[..., Tensor] = add_and_norm
    greedy_sequence: Callable[..., list[int]] = greedy_sequence
    segment: Callable[..., list[str]] | None = None


class RMSNorm(nn.Module):
    """Divide each position by its root mean square, then scale each feature."""

    def __init__(self, weight: Tensor):
        super().__init__()
        self.weight = weight  # (d_model,)

    def forward(self, x: Tensor) -> Tensor:
        """Normalise `(B, L, d_model)`."""
        mean_square = x.square().mean(-1, keepdim=True)  # (B, L, 1)
        return x * torch.rsqrt(mean_square + 1e-5) * self.weight


class ChatModel(nn.Module):
    """The published model, built from the functions in ``slots``.

    As in unit 5, `model(source, tokens)` returns logits.
    """

    def __init__(self, weights: Mapping[str, Tensor], slots: Slots):
        super().__init__()
        self.weights, self.slots = weights, slots

    def forward(self, source: Tensor, tokens: Tensor) -> Tensor:
        """Map source ids `(1, Ls)` and tokens `(1, T)` to logits `(1, T, V)`.

        The tokens begin with BOS. Raises SlotError for too many tokens or a NaN.
        """
        if tokens.size(1) > MAX_LEN:
            raise SlotError(f"greedy_sequence does not stop after {MAX_LEN} tokens")
        slots, table = self.slots, self.weights["token_embd.weight"]
        # The prompt already has a BOS, before "assistant", so that of `tokens` is cut.
        ids = torch.cat((source, tokens[:, 1:]), 1)  # (1, L)
        x = slots.embed(ids, table)  # (1, L, d_model)
        visible, dropout = slots.mask(ids.size(1)), nn.Identity()
        for i in range(NUM_BLOCKS):
            attend = partial(self.attend, i, visible)
            feed = partial(self.feed, i)
            x = slots.add_and_norm(x, attend, self.norm(f"blk.{i}.attn"), dropout, True)
            x = slots.add_and_norm(x, feed, self.norm(f"blk.{i}.ffn"), dropout, True)
        x = self.norm("output")(x[:, source.size(1) - 1 :])  # (1, T, d_model)
        logits = F.linear(x, table)  # (1, T, V)
        if logits.isnan().any():
            raise SlotError("no answer: the logits are NaN")
        return logits

    def attend(self, i: int, visible: Tensor, x: Tensor) -> Tensor:
        """Apply the attention layer of block i to x; keep the shape `(B, L, d_model)`.

        ``visible`` is the mask, `(L, L)`.
        """
        slots = self.slots
        to_q, to_k, to_v, to_output = (
            self.weights[f"blk.{i}.attn_{name}.weight"]
            for name in ("q", "k", "v", "output")
        )
        q = slots.rotate(slots.split_heads(F.linear(x, to_q), NUM_HEADS))
        k = slots.rotate(slots.split_heads(F.linear(x, to_k), NUM_KV_HEADS))
        v = slots.split_heads(F.linear(x, to_v), NUM_KV_HEADS)  # (B, 3, L, d_k)
        k, v = (t.repeat_interleave(NUM_HEADS // NUM_KV_HEADS, 1) for t in (k, v))
        output, _ = slots.scaled_dot_product_attention(
            q, k, v, visible
        )  # (B, h, L, d_k)
        return F.linear(slots.merge_heads(output), to_output)

    def feed(self, i: int, x: Tensor) -> Tensor:
        """The feed-forward network of block i; keeps the shape `(B, L, d_model)`."""
        gate, up, down = (
            self.weights[f"blk.{i}.ffn_{name}.weight"]
            for name in ("gate", "up", "down")
        )
        return self.slots.feed_forward(x, gate, up, down)

    def norm(self, name: str) -> RMSNorm:
        """The norm layer whose weight is stored under this name."""
        return RMSNorm(self.weights[f"{name}_norm.weight"])
