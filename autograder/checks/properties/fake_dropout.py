"""Replacements for PyTorch's dropout: not random, or with reproducible draws."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator

import torch
from torch import Tensor
from torch.nn import functional

from autograder.checks.global_state import attributes_replaced

_BLOCKS = ("dropout1d", "dropout2d", "dropout3d", "alpha_dropout")


@contextlib.contextmanager
def dropout_is(stand_in: Callable[..., Tensor]) -> Iterator[None]:
    """In this context, replace PyTorch's dropout by a function that is not random.

    In training mode, ``stand_in`` is called with the input and the probability.
    Dropout of whole channels gives zeros instead.
    """

    def single_numbers(
        input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False
    ) -> Tensor:
        """Return the stand-in's result in training mode, the input in eval mode."""
        if not training:
            return input
        return input.copy_(stand_in(input, p)) if inplace else stand_in(input, p)

    def whole_blocks(
        input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False
    ) -> Tensor:
        return input * 0 if training and p else input

    with _in_place_of(single_numbers, **dict.fromkeys(_BLOCKS, whole_blocks)):
        yield


@contextlib.contextmanager
def dropout_by_rand() -> Iterator[None]:
    """In this context, make PyTorch's dropout draw its numbers from `torch.rand`.

    Unlike dropout's own, they are the same in all versions of PyTorch.
    """
    original = functional.dropout

    def drop_by_rand(
        input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False
    ) -> Tensor:
        """Drop an entry if the number drawn for it is below p; scale up the others."""
        # Calls that are not random, or are errors, are left to PyTorch.
        if not (training and isinstance(input, Tensor) and 0 < p < 1):
            return original(input, p, training, inplace)
        draws = torch.rand(input.shape, dtype=torch.float32, device=input.device)
        mask = (draws >= p).to(input.dtype).div_(1 - p)
        return input.mul_(mask) if inplace else input * mask

    with _in_place_of(drop_by_rand):
        yield


def _in_place_of(
    dropout: Callable[..., Tensor], **replacements: Callable[..., Tensor]
) -> contextlib.AbstractContextManager[None]:
    """Replace `F.dropout` and `torch.dropout` in a context.

    ``replacements`` are for other functions of `torch.nn.functional`, by name.
    """

    def direct(input: Tensor, p: float, train: bool) -> Tensor:
        return dropout(input, p, train)

    replacements["dropout"] = dropout
    return attributes_replaced(
        (torch, "dropout", direct),
        *((functional, name, function) for name, function in replacements.items()),
    )


def nothing(x: Tensor, p: float) -> Tensor:
    """Dropout that drops nothing."""
    return x


def shrink(x: Tensor, p: float) -> Tensor:
    """Multiply each number by a factor that depends on its value, in place of dropout.

    It does not depend on the position, because solutions may order dimensions
    differently. It is positive, so that dropout may come before or after a ReLU.
    """
    if not p:
        return x
    factor = 1 + (4 * x.detach().asinh()).sin() / 2
    return x * (1 - p) * factor
