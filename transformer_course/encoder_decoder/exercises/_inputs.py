"""Functions that draw inputs for several exercises of the unit."""

from __future__ import annotations

import torch

from autograder.authoring.draw import Draw

# A dropout rate that drops practically everything, although 1 - rate is not 0.
EVERYTHING = 1 - 2**-40


def draw_padding_mask(draw: Draw, B: int, L: int) -> torch.Tensor:
    """Draw a padding mask (B, L), True at words, for sentences of different lengths."""
    lengths = L - (torch.arange(B) + int(draw.ids(0, B))) % B
    return torch.arange(L) < lengths.clamp(min=1)[:, None]


def draw_words(draw: Draw, B: int, L: int, vocab: int, pad_id: int = 0) -> torch.Tensor:
    """Draw random ids (B, L), none of which is ``pad_id``."""
    return (pad_id + draw.ids(1, vocab, B, L)) % vocab


def draw_sentences(draw: Draw, B: int, L: int, vocab: int, pad_id: int = 0) -> torch.Tensor:
    """Draw random ids (B, L) of sentences of different lengths, padded at the end."""
    words = draw_words(draw, B, L, vocab, pad_id)
    return torch.where(draw_padding_mask(draw, B, L), words, pad_id)


def scatter_padding(draw: Draw, B: int, L: int, vocab: int, pad_id: int = 0) -> torch.Tensor:
    """Draw ids (B, L) with padding at every third position, but never at the first."""
    words = draw_words(draw, B, L, vocab, pad_id)
    keep = (draw.ids(0, 3, B, 1) + torch.arange(L)) % 3 != 0
    keep[:, 0] = True
    return torch.where(keep, words, pad_id)
