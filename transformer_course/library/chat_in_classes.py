"""SmolLM2-135M-Instruct in the classes of unit 7, for the units that build on it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import ModuleType

import torch
from torch import Tensor, nn

NUM_HEADS, NUM_KV_HEADS = 9, 3


def new_network(modern: ModuleType) -> nn.Module:
    """An untrained `LanguageModel` of unit 7, in the sizes of the published one."""
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
    """Fill in the published parameters, and return the network in evaluation mode.

    Args:
        modern: unit 7, whose `published_tensor` finds each parameter in the file.
        change: is applied to each matrix of the blocks.
    """
    for name, parameter in network.named_parameters():
        weight = modern.published_tensor(name, weights, NUM_HEADS, NUM_KV_HEADS)
        in_block = name.startswith("blocks") and weight.dim() == 2
        parameter.copy_(change(weight) if in_block else weight)
    return network.eval()
