"""The probe of the stack, which is filled with stand-ins for its layers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch import nn

from autograder.checks.probes import Inputs, Seen, gradients, probe, tensor
from autograder.checks.probes.weights import load_weights, parameter_shapes


@probe(
    "encoder_decoder/stack",
    results="layers made; `norm` is the very norm that was given; output",
    form="hooks left out",
    calls="* afterwards",
    gradients="gradient of *",
    learning="parameters",
)
def stack(module_class: Callable[..., Any], inputs: Inputs) -> Seen:
    """Report what the student's stack does with stand-in layers.

    This includes how many layers it made, and whether it called their ``forward``
    directly, which skips hooks.
    """
    d_model, layers = inputs["x"].size(-1), []
    names, masks, make = ["x"], ["mask"], _EncoderStandIn
    if "memory" in inputs:
        names, masks = ["x", "memory"], ["tgt_mask", "memory_mask"]
        make = _DecoderStandIn

    def make_layer() -> nn.Module:
        layers.append(make(d_model))
        return layers[-1]

    # The case has one matrix for each layer.
    depth = sum(name.endswith("matrix") for name in inputs)
    norm = _Norm(d_model) if "weights.norm.bias" in inputs else None
    module = module_class(make_layer, depth, *([norm] if norm else []))
    count = len(layers)
    observations: Seen = {"layers made": torch.tensor(count)}
    if norm:
        is_same = getattr(module, "norm", None) is norm
        observations["`norm` is the very norm that was given"] = str(is_same)
    module = load_weights(module, inputs)
    observations["parameters"] = parameter_shapes(module)
    sequences = [inputs[name] for name in names]
    mask_tensors = [inputs.get(name) for name in masks]
    # Trailing masks that the case lacks are left out, which tests the defaults.
    while mask_tensors and mask_tensors[-1] is None:
        mask_tensors.pop()

    def call(*sequences: torch.Tensor) -> torch.Tensor:
        return tensor(module(*sequences, *mask_tensors), "the output")

    observations["output"] = call(*sequences)
    afterwards = (name for name in (*names, *masks) if name in inputs)
    observations |= {f"{name} afterwards": inputs[name] for name in afterwards}
    observations |= gradients(call, sequences, names, inputs)
    skipped = any(layer.skipped_hooks for layer in layers)
    return observations | {"hooks left out": "yes" if skipped else "no"}


class _Norm(nn.LayerNorm):
    """A norm that adds a constant, so that a different norm in its place is noticed."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return super().forward(x) + 0.125


class _EncoderStandIn(nn.Module):
    """A layer in which each position attends to those that its mask allows.

    ``skipped_hooks`` counts the calls of `forward` for which no hook ran.
    """

    def __init__(self, d_model: int):
        super().__init__()
        self.matrix = nn.Parameter(torch.eye(d_model))
        self.skipped_hooks = 0
        self.register_forward_hook(_EncoderStandIn._count_hook)

    def _count_hook(self, *_: object) -> None:
        """Subtract the current call from ``skipped_hooks``, since it has run this hook.

        If `forward` is called directly, no hook runs, so the call stays counted.
        """
        self.skipped_hooks -= 1

    def forward(
        self, x: torch.Tensor, mask: torch.Tensor | None = None
    ) -> torch.Tensor:
        self.skipped_hooks += 1
        return x + torch.tanh(_attend(x, x, mask) @ self.matrix)


class _DecoderStandIn(_EncoderStandIn):
    """Like `_EncoderStandIn`, but each position also attends to the memory."""

    def forward(  # type: ignore[override]
        self,
        x: torch.Tensor,
        memory: torch.Tensor,
        tgt_mask: torch.Tensor | None = None,
        memory_mask: torch.Tensor | None = None,
    ) -> torch.Tensor:
        """The output, which depends on the order and the masks of both attentions.

        The call counts as skipped until the layer's hook has run.
        """
        self.skipped_hooks += 1
        x = x + torch.tanh(_attend(x, x, tgt_mask) @ self.matrix)
        return x - torch.tanh(_attend(x, memory, memory_mask) @ self.matrix.T)


def _attend(
    x: torch.Tensor, source: torch.Tensor, mask: torch.Tensor | None
) -> torch.Tensor:
    """Attention from x to a source, without projections."""
    return F.scaled_dot_product_attention(x, source, source, attn_mask=mask)
