"""The form of a tensor: its dtype and its shape."""

from __future__ import annotations

import torch

Form = tuple[str | int, ...]  # a dtype, and the sizes of a shape


def dtype_of(value: object) -> str:
    """The name of a tensor's dtype, like "float32"; "" for anything else."""
    return str(getattr(value, "dtype", "")).removeprefix("torch.")


def form_of(value: torch.Tensor) -> Form:
    """The dtype and the shape of a tensor: ``("float32", 2, 3)``."""
    return (dtype_of(value), *value.shape)
