"""Inputs that several exercises of the unit share."""

from __future__ import annotations

import torch

from autograder.authoring.draw import Draw
from autograder.authoring.specification import Inputs, Maker

PAD, BOS, EOS, UNK, FIRST = 0, 1, 2, 3, 4


def random_rows(
    draw: Draw, lengths: list[int], high: int = 14, unknown: bool = False
) -> list[list[int]]:
    """Random rows of the given lengths that differ from their own reversal.

    If ``unknown``, the second of the longest row is UNK.
    """
    rows = [draw.ids(FIRST, high, length).tolist() for length in lengths]
    if unknown:
        max(rows, key=len)[1] = UNK
    for row in rows:
        if len(row) > 1 and row == row[::-1]:
            row[0] = FIRST + (row[0] - FIRST + 1) % (high - FIRST)
    return rows


def padded(rows: list[list[int]], width: int = 0) -> torch.Tensor:
    width = max([width, *map(len, rows)])
    return torch.tensor([row + [PAD] * (width - len(row)) for row in rows])


def random_targets(draw: Draw, lengths: list[int], high: int) -> torch.Tensor:
    rows = random_rows(draw, lengths, high)
    return padded([[BOS, *row, EOS] for row in rows])


def random_tables(draw: Draw, vocabulary: int, scale: float) -> Inputs:
    return {
        "table": draw.tensor(vocabulary, vocabulary, scale=scale),
        "mix": draw.tensor(vocabulary, vocabulary, scale=scale),
        "bias": draw.tensor(vocabulary, scale=scale),
        "end": draw.tensor(scale=scale),
    }


def random_batches(
    draw: Draw, count: int, lengths: tuple[int, ...], high: int
) -> Inputs:
    """Batches whose lengths rotate over the rows; no source is its own reversal."""
    sources, targets = [], []
    for n in range(count):
        turned = [*lengths[n % len(lengths) :], *lengths[: n % len(lengths)]]
        sources.append(padded([[*r, EOS] for r in random_rows(draw, turned, high)]))
        targets.append(random_targets(draw, turned, high))
    return {"source": torch.stack(sources), "target": torch.stack(targets)}


def lines_of(
    eos_indices: tuple[int, ...],
    max_len: int,
    vocabulary: int,
    training: bool,
    extra: int = 3,
    pads: bool = False,
) -> Maker:
    """Lines for a model to write, with EOS at the given indices (or none) and tokens after it.

    If ``pads``, a line also holds PAD and BOS before its EOS.
    """

    def make_inputs(draw: Draw) -> Inputs:
        rows, width = len(eos_indices), max_len + extra
        source = draw.ids(FIRST, vocabulary - 1, rows, 4)
        source[:, 0] = FIRST + torch.arange(rows)  # all rows differ
        lines = draw.ids(FIRST, vocabulary - 1, rows, width)
        for row, end in zip(lines, eos_indices, strict=True):
            if end < width:
                row[end] = EOS
                row[end + 2 :: 3] = EOS
            if pads and end >= width:
                row[max_len - 2 : max_len] = PAD
            elif pads and end > 1:
                row[end - 2] = PAD
                row[end - 3 : end - 2] = BOS
        return {
            "source": source,
            "lines": lines,
            "max_len": torch.tensor(max_len),
            "noise": draw.tensor(width + 2, vocabulary, scale=1.0),
            "training": torch.tensor(training),
        }

    return make_inputs
