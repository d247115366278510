"""What takes the place of PyTorch's dropout: without chance, or with the same draws."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import torch

_Dropout = Callable[..., torch.Tensor]


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

    with _in_place_of(single_numbers, **dict.fromkeys(_BLOCKS, whole_blocks)):
        yield


_BLOCKS = ("dropout1d", "dropout2d", "dropout3d", "alpha_dropout")


@contextlib.contextmanager
def dropout_by_rand() -> Iterator[None]:
    """Have PyTorch's dropout draw from `torch.rand` for a while.

    Its own draws are others in each version of PyTorch; those of `torch.rand`, in
    single precision, are the same.
    """
    own = torch.nn.functional.dropout

    def drawn(
        input: torch.Tensor,
        p: float = 0.5,
        training: bool = True,
        inplace: bool = False,
    ) -> torch.Tensor:
        # What leaves nothing to chance, or is an error, is as it is in PyTorch.
        if not (training and isinstance(input, torch.Tensor) and 0 < p < 1):
            return own(input, p, training, inplace)
        draws = torch.rand(input.shape, dtype=torch.float32, device=input.device)
        mask = (draws >= p).to(input.dtype).div_(1 - p)
        return input.mul_(mask) if inplace else input * mask

    with _in_place_of(drawn):
        yield


@contextlib.contextmanager
def _in_place_of(dropout: _Dropout, **others: _Dropout) -> Iterator[None]:
    """Put functions in the place of PyTorch's dropout, and of others by their names."""

    def direct(input: torch.Tensor, p: float, train: bool) -> torch.Tensor:
        return dropout(input, p, train)

    functional: Any = torch.nn.functional
    top: Any = torch
    others["dropout"] = dropout
    saved = {name: getattr(functional, name) for name in others}
    saved_direct = top.dropout
    try:
        top.dropout = direct
        for name, function in others.items():
            setattr(functional, name, function)
        yield
    finally:
        top.dropout = saved_direct
        for name, function in saved.items():
            setattr(functional, name, function)


def nothing(x: torch.Tensor, p: float) -> torch.Tensor:
    """Dropout that drops nothing."""
    return x


def shrink(x: torch.Tensor, p: float) -> torch.Tensor:
    """Takes from each feature its own share: neither a norm nor a sum undoes that.

    All shares are positive, so that before or after a ReLU is the same, as for dropout.
    """
    places = torch.arange(x.size(-1), dtype=x.dtype)
    return x * (1 - p) * (1 + places.cos() / 2) if p else x
