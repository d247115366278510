"""Inputs that several exercises of the unit share."""

from __future__ import annotations

import torch

from autograder.authoring.draw import Draw

# A dropout rate at which nothing is left, but 1 - rate may still be divided by.
EVERYTHING = 1 - 2**-40


def keep_mask(draw: Draw, batch: int, length: int) -> torch.Tensor:
    """(B, L): each sentence keeps its first positions, a different number in each."""
    lengths = length - (torch.arange(batch) + int(draw.ids(0, batch))) % batch
    return torch.arange(length) < lengths.clamp(min=1)[:, None]


def draw_words(
    draw: Draw, batch: int, length: int, vocab: int, pad_id: int = 0
) -> torch.Tensor:
    """(B, L): ids of any words but padding."""
    return (pad_id + draw.ids(1, vocab, batch, length)) % vocab


def draw_sentences(
    draw: Draw, batch: int, length: int, vocab: int, pad_id: int = 0
) -> torch.Tensor:
    """(B, L): ids with padding of different lengths at the end."""
    words = draw_words(draw, batch, length, vocab, pad_id)
    return torch.where(keep_mask(draw, batch, length), words, pad_id)


def scatter_padding(
    draw: Draw, batch: int, length: int, vocab: int, pad_id: int = 0
) -> torch.Tensor:
    """(B, L): ids with padding at every third position, but never at the first."""
    words = draw_words(draw, batch, length, vocab, pad_id)
    keep = (draw.ids(0, 3, batch, 1) + torch.arange(length)) % 3 != 0
    keep[:, 0] = True
    return torch.where(keep, words, pad_id)
