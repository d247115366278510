"""Conversion of sentences to batches of ids, and of decoded ids to sentences."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

import torch
from torch import Tensor, nn

from transformer_course.library.text import BOS, EOS, PAD, Tokenizer

T = TypeVar("T")
Decode = Callable[[nn.Module, Tensor], Tensor]


def recover(
    model: nn.Module,
    tokenizer: Tokenizer,
    sources: Sequence[str],
    decode: Decode,
    batch_size: int = 32,
) -> list[str]:
    """Return the text that a model recovers from each damaged source text.

    ``decode`` maps the model and source ids (B, Ls) to ids of the targets (B, L).
    """
    rows = [[*tokenizer.encode(source), EOS] for source in sources]
    order = sorted(range(len(rows)), key=lambda i: len(rows[i]))  # little padding
    texts = [""] * len(rows)
    device = next(model.parameters()).device
    for start in range(0, len(order), batch_size):
        chosen = order[start : start + batch_size]
        ids = decode(model, padded([rows[i] for i in chosen]).to(device))
        for i, row in zip(chosen, ids.tolist(), strict=True):
            texts[i] = tokenizer.decode(row)
    return texts


def padded(rows: Sequence[Sequence[int]]) -> Tensor:
    """Rows of different lengths as one tensor (B, L), int64, filled up with PAD."""
    longest = max(map(len, rows))
    return torch.tensor([[*row, *[PAD] * (longest - len(row))] for row in rows])


def make_batch(
    sources: Sequence[Sequence[int]], targets: Sequence[Sequence[int]]
) -> tuple[Tensor, Tensor]:
    """Make padded int64 tensors of the ids in a batch.

    Returns:
        sources `(B, n + 1)` with EOS, and targets `(B, m + 2)` with BOS and EOS,
        where n and m are the largest lengths.
    """
    return (
        padded([[*ids, EOS] for ids in sources]),
        padded([[BOS, *ids, EOS] for ids in targets]),
    )


def bucketed(
    examples: Sequence[T], batch_size: int, seed: int, length: Callable[[T], int]
) -> Iterator[list[T]]:
    """Yield all examples once, in random batches of similar length to save padding."""
    shuffler, order = random.Random(seed), list(examples)
    shuffler.shuffle(order)
    for start in range(0, len(order), 50 * batch_size):
        chunk = sorted(order[start : start + 50 * batch_size], key=length)
        batches = [chunk[i : i + batch_size] for i in range(0, len(chunk), batch_size)]
        shuffler.shuffle(batches)
        yield from batches
