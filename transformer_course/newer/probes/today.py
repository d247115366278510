"""The probe of a mixture of experts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from autograder.checks.probes import Inputs, Seen, probe
from autograder.checks.probes.default import create_module, observe_call
from autograder.checks.probes.weights import INITIALISATION, load_weights

_LEARNING = f"parameters; {INITIALISATION}"


@probe(
    "newer/mixture",
    results="the output",
    form="vectors that the experts compute; type of *",
    calls="* afterwards",
    gradients="gradient of *",
    learning=_LEARNING,
)
def mixture(module_class: Callable[..., Any], inputs: Inputs) -> Seen:
    """Report an ordinary call of a module, and how many vectors each expert computes.

    The numbers show whether only the chosen experts compute.
    """
    observations = observe_call(module_class, inputs)
    module: Any = load_weights(create_module(module_class, inputs), inputs)
    counts = [0] * len(module.experts)
    for index, expert in enumerate(module.experts):
        expert.register_forward_hook(_make_counter(counts, index))
    with torch.no_grad():
        module(inputs["x"])
    computed = ", ".join(map(str, counts))
    return observations | {"vectors that the experts compute": computed}


def _make_counter(counts: list[int], index: int) -> Callable[..., None]:
    """A hook that adds the number of an expert's input vectors to ``counts``."""

    def hook(
        module: nn.Module, arguments: tuple[torch.Tensor, ...], result: Any
    ) -> None:
        counts[index] += arguments[0].numel() // arguments[0].size(-1)

    return hook
