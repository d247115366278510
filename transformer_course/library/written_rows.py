"""What a model's rows say, apart from the form in which they come."""

from __future__ import annotations

import torch

from transformer_course.library.text import BOS, EOS, PAD


def trim_at_eos(ids: torch.Tensor) -> torch.Tensor:
    """Cut each row at its EOS, and fill it up with PAD: (B, L).

    A first column of BOS is also dropped, as it says nothing about the text.
    """
    if ids.dim() != 2 or ids.is_floating_point() or not ids.numel():
        return ids
    if bool((ids[:, 0] == BOS).all()):
        ids = ids[:, 1:]
    over = (ids == EOS).cumsum(dim=1) > 0
    return trimmed(ids.masked_fill(over, PAD))


def trimmed(ids: torch.Tensor) -> torch.Tensor:
    """Drop columns of PAD at the end, since they say nothing."""
    if ids.dim() != 2 or ids.is_floating_point():
        return ids
    while ids.size(1) > 1 and bool((ids[:, -1] == PAD).all()):
        ids = ids[:, :-1]
    return ids
