"""Functions that remove the meaningless differences between rows of decoded ids.

Two rows with the same text may differ in what follows EOS, and in padding.
"""

from __future__ import annotations

import torch

from transformer_course.library.text import BOS, EOS, PAD


def trim_at_eos(ids: torch.Tensor) -> torch.Tensor:
    """Replace each row's EOS and all after it by PAD, and drop final padding.

    A first column of BOS is also dropped. Rows of ids (B, L) that differ only after
    EOS become equal; other tensors are returned unchanged.
    """
    if ids.dim() != 2 or ids.is_floating_point() or not ids.numel():
        return ids
    if bool((ids[:, 0] == BOS).all()):
        ids = ids[:, 1:]
    over = (ids == EOS).cumsum(dim=1) > 0
    return drop_padding(ids.masked_fill(over, PAD))


def drop_padding(ids: torch.Tensor) -> torch.Tensor:
    """Drop columns at the end that contain only PAD, but never the first column."""
    if ids.dim() != 2 or ids.is_floating_point():
        return ids
    while ids.size(1) > 1 and bool((ids[:, -1] == PAD).all()):
        ids = ids[:, :-1]
    return ids
