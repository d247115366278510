"""Probes of the Transformer and of the language model."""

from __future__ import annotations

from functools import partial
from typing import Any

import torch
from torch import nn

from autograder.checks.probes import Inputs, Seen, probe, tensor
from autograder.checks.probes.default import MAKE, create_module, observe_call
from autograder.checks.probes.weights import (
    INITIALISATION,
    load_weights,
    starting_as_zero,
)

_POSITIONS = f"{MAKE}positions"
_probe_model = partial(
    probe,
    calls="* afterwards",
    learning=f"{INITIALISATION}; parameters; vectors that start as zero",
)


@_probe_model("encoder_decoder/language_model", results="logits")
def language_model(module_class: Any, inputs: Inputs) -> Seen:
    """Report what the default probe reports, and which embeddings start as zero.

    In a new model, only the embedding of the padding id should be zero.
    """
    observations = observe_call(module_class, inputs)
    model = create_module(module_class, inputs)
    return observations | {"vectors that start as zero": starting_as_zero(model)}


@_probe_model(
    "encoder_decoder/transformer",
    results="logits; logits of *; modules that add positions; "
    "source and target share positions",
    parts={"memory": "memory"},
)
def transformer(module_class: Any, inputs: Inputs) -> Seen:
    """Report a call, `encode` and `decode`, and the modules that add positions.

    The last are counted if the case passes one; otherwise the probe reports whether
    source and target share one.
    """
    if _POSITIONS in inputs:
        inputs = {**inputs, _POSITIONS: _AddRows(int(inputs[f"{MAKE}d_model"]))}
    observations = language_model(module_class, inputs)
    model: Any = load_weights(create_module(module_class, inputs), inputs)
    if _POSITIONS in inputs:
        adding = [part for part in model.modules() if isinstance(part, _AddRows)]
        observations["modules that add positions"] = torch.tensor(len(adding))
    else:
        shared = model.source.positions is model.target.positions
        observations["source and target share positions"] = str(shared)
    return observations | _observe_methods(model, inputs["src"], inputs["tgt"])


def _observe_methods(model: Any, src: torch.Tensor, tgt: torch.Tensor) -> Seen:
    """Report what `encode` returns (the memory), and the logits of calls of `decode`.

    The calls differ in their memory or target, and one follows another `encode`.
    """
    memory = tensor(model.encode(src), "what `encode` returns")

    def decode(tgt: torch.Tensor, memory: torch.Tensor) -> torch.Tensor:
        return tensor(model.decode(tgt, memory, src), "the logits")

    observations = {
        "memory": memory,
        "logits of decode": decode(tgt, memory),
        "logits of decode with another memory": decode(tgt, -memory.flip(-1)),
    }
    # A model that keeps the memory of its last `encode` would now decode with this one.
    model.encode(src.flip(0))
    observations["logits of decode after another encode"] = decode(tgt, memory)
    observations["logits of decode for the first token"] = decode(tgt[:, :1], memory)
    return observations


class _AddRows(nn.Module):
    """A stand-in for the module that adds positions: its rows are not sinusoids."""

    rows: torch.Tensor

    def __init__(self, d_model: int):
        super().__init__()
        rows = torch.arange(512)[:, None] % 7 - torch.arange(d_model) % 3
        self.register_buffer("rows", rows / 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.rows[: x.size(1)]
