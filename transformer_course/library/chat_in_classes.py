"""SmolLM2-135M-Instruct built from the classes of unit 7, for use in later units."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import ModuleType

import torch
from torch import Tensor, nn

NUM_HEADS, NUM_KV_HEADS = 9, 3


def new_network(modern: ModuleType) -> nn.Module:
    """An untrained `LanguageModel` of unit 7 with the sizes of the published model."""
    network: nn.Module = modern.LanguageModel(
        49_152, 576, NUM_HEADS, NUM_KV_HEADS, 30, 2304, base=100_000.0, eps=1e-5
    )
    return network


@torch.no_grad()
def fill(
    network: nn.Module,
    modern: ModuleType,
    weights: Mapping[str, Tensor],
    change: Callable[[Tensor], Tensor] = lambda weight: weight,
) -> nn.Module:
    """Copy the published parameters into a network; return it in evaluation mode.

    ``modern`` is unit 7's module. ``change`` is applied to each weight matrix of
    the blocks, such as to round it to a few bits.
    """
    for name, parameter in network.named_parameters():
        weight = modern.published_tensor(name, weights, NUM_HEADS, NUM_KV_HEADS)
        in_block = name.startswith("blocks") and weight.dim() == 2
        parameter.copy_(change(weight) if in_block else weight)
    return network.eval()
