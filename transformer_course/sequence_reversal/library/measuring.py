"""Greedy decoding for demonstrations, in case the student skipped that exercise."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from transformer_course.library.text import BOS, EOS, PAD


@torch.no_grad()
def write(model: Any, source: Tensor, max_len: int) -> Tensor:
    """Decode sources `(B, Ls)` greedily with a model like unit 4's Transformer.

    The result `(B, max_len)` lacks BOS, and has PAD after each row's EOS.
    """
    mode = model.training
    model.train(False)
    memory = model.encode(source)
    written = torch.full((source.size(0), 1), BOS)
    ended = torch.zeros(source.size(0), dtype=torch.bool)
    for _ in range(max_len):
        best = model.decode(written, memory, source)[:, -1].argmax(dim=-1)  # (B,)
        best = best.masked_fill(ended, PAD)
        written = torch.cat([written, best.unsqueeze(1)], dim=1)
        ended |= best == EOS
    model.train(mode)
    return written[:, 1:]
