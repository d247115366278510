"""What takes the place of PyTorch's dropout, so that nothing is left to chance."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import torch


@contextlib.contextmanager
def dropout_is(stand_in: Callable[..., torch.Tensor]) -> Iterator[None]:
    """Have PyTorch's dropout be something without chance for a while."""

    def single_numbers(
        input: torch.Tensor,
        p: float = 0.5,
        training: bool = True,
        inplace: bool = False,
    ) -> torch.Tensor:
        if not training:
            return input
        return input.copy_(stand_in(input, p)) if inplace else stand_in(input, p)

    def whole_blocks(
        input: torch.Tensor,
        p: float = 0.5,
        training: bool = True,
        inplace: bool = False,
    ) -> torch.Tensor:
        return input * 0 if training and p else input

    functional: Any = torch.nn.functional
    top: Any = torch
    saved = {name: getattr(functional, name) for name in ("dropout", *_BLOCKS)}
    direct = top.dropout
    functional.dropout = top.dropout = single_numbers
    for name in _BLOCKS:
        setattr(functional, name, whole_blocks)
    try:
        yield
    finally:
        top.dropout = direct
        for name, function in saved.items():
            setattr(functional, name, function)


_BLOCKS = ("dropout1d", "dropout2d", "dropout3d", "alpha_dropout")


def nothing(x: torch.Tensor, p: float) -> torch.Tensor:
    """Dropout that drops nothing."""
    return x


def shrink(x: torch.Tensor, p: float) -> torch.Tensor:
    """Takes from each feature its own share: neither a norm nor a sum undoes that.

    All shares are positive, so that before or after a ReLU is the same, as for dropout.
    """
    places = torch.arange(x.size(-1), dtype=x.dtype)
    return x * (1 - p) * (1 + places.cos() / 2) if p else x
