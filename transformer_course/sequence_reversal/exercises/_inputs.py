"""Inputs that several exercises of the unit share."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch.nn.utils.rnn import pad_sequence

from autograder.authoring.draw import Draw
from autograder.authoring.specification import Inputs

PAD, BOS, EOS, UNK, FIRST = 0, 1, 2, 3, 4
VOCABULARY = 9  # tokens of the scripted model


def pad_rows(rows: Sequence[Sequence[int]]) -> torch.Tensor:
    """A tensor of rows of ids, padded with PAD to the longest: (B, L)."""
    tensors = [torch.tensor(row, dtype=torch.int64) for row in rows]
    return pad_sequence(tensors, batch_first=True, padding_value=PAD)


def draw_labels(draw: Draw, lengths: Sequence[int], vocabulary: int) -> torch.Tensor:
    """Draw labels (B, L), any tokens except PAD: rows of these lengths, padded with PAD."""
    return pad_rows([draw.ids(1, vocabulary, n).tolist() for n in lengths])


def draw_tables(draw: Draw, scale: float) -> Inputs:
    """Draw the parameters of the probes' model, `_Scripted`: two tables of logits and two biases."""
    shape = (VOCABULARY, VOCABULARY)
    return {
        "table": draw.tensor(*shape, scale=scale),
        "mix": draw.tensor(*shape, scale=scale),
        "bias": draw.tensor(VOCABULARY, scale=scale),
        "end": draw.tensor(scale=scale),
    }


def draw_batches(draw: Draw, count: int, lengths: tuple[int, ...]) -> Inputs:
    """Draw batches of padded sequences ("source") and their reversals ("target").

    Both have the shape (count, B, L). ``lengths`` are those of the B sequences in a
    batch, without special tokens.
    """
    sources, targets = [], []
    for n in range(count):
        turn = n % len(lengths)
        turned = (*lengths[turn:], *lengths[:turn])
        rows = [draw.ids(FIRST, VOCABULARY, length).tolist() for length in turned]
        sources.append(pad_rows([[*row, EOS] for row in rows]))
        targets.append(pad_rows([[BOS, *row[::-1], EOS] for row in rows]))
    return {"source": torch.stack(sources), "target": torch.stack(targets)}
