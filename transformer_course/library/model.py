"""The Transformer of unit 4 as a model that recovers texts, with ablation options."""

from __future__ import annotations

from dataclasses import dataclass
from types import ModuleType
from typing import Any

import torch
from torch import Tensor, nn


@dataclass(frozen=True)
class Sizes:
    """The hyperparameters of a model.

    ``positions`` is "sinusoidal" or "learned". ``residual=False`` is an ablation:
    it subtracts each layer's input from its output.
    """

    vocab_size: int
    d_model: int = 128
    num_heads: int = 4
    num_layers: int = 2
    d_ff: int = 512
    dropout: float = 0.0
    positions: str = "sinusoidal"
    residual: bool = True
    max_len: int = 200


class LearnedPositions(nn.Module):
    """One learnt vector per position, added to x `(B, L, d_model)`.

    Their components start with the root mean square of sinusoids, the root of 1/2.
    """

    def __init__(self, max_len: int, d_model: int):
        super().__init__()
        self.table = nn.Parameter(torch.randn(max_len, d_model) * 0.5**0.5)

    def forward(self, x: Tensor) -> Tensor:
        """x with the vectors of its first L positions added."""
        return x + self.table[: x.size(1)]


class Restorer(nn.Module):
    """Unit 4's pre-norm Transformer; source, target and output share one embedding.

    It maps ids to logits, and masks padding. ``parts`` is the module of unit 4.
    """

    def __init__(self, sizes: Sizes, parts: ModuleType):
        super().__init__()
        self.sizes = sizes
        learned = None
        if sizes.positions == "learned":
            learned = LearnedPositions(sizes.max_len, sizes.d_model)
        self.transformer = parts.Transformer(
            sizes.vocab_size, sizes.vocab_size, sizes.d_model, sizes.num_heads,
            sizes.num_layers, sizes.d_ff, sizes.dropout, norm_first=True,
            max_len=sizes.max_len, positions=learned,
        )  # fmt: skip
        table = self.transformer.source.embedding.weight  # (V, d_model)
        self.transformer.target.embedding.weight = table
        self.transformer.output.weight = table
        # Since the output layer shares the embedding, vectors of length 1 keep the
        # initial logits near 1.
        nn.init.normal_(self.transformer.output.weight, std=sizes.d_model**-0.5)
        if not sizes.residual:
            _remove_residuals(self.transformer)

    def encode(self, source: Tensor) -> Tensor:
        """Encode source ids (B, Ls) into memory (B, Ls, d_model)."""
        memory: Tensor = self.transformer.encode(source)
        return memory

    def decode(self, target: Tensor, memory: Tensor, source: Tensor) -> Tensor:
        """Logits (B, Lt, V) of the token after each position of target ids (B, Lt)."""
        logits: Tensor = self.transformer.decode(target, memory, source)
        return logits

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        """Logits (B, Lt, V) for source ids (B, Ls) and target ids (B, Lt)."""
        return self.decode(target, self.encode(source), source)


def _remove_residuals(transformer: Any) -> None:
    """Remove the residual stream from layer to layer, by subtracting the input.

    Within a layer, the residual connections stay.
    """
    for stack in (transformer.encoder, transformer.decoder):
        for layer in stack.layers:
            layer.register_forward_hook(lambda _, inputs, output: output - inputs[0])


def parameters(model: nn.Module) -> int:
    """The number of the model's parameters; shared ones count once."""
    return sum(p.numel() for p in model.parameters())


def device() -> torch.device:
    """A CUDA or an Apple GPU if there is one, else the CPU."""
    if torch.cuda.is_available():
        return torch.device("cuda")
    return torch.device("mps" if torch.backends.mps.is_available() else "cpu")


@torch.no_grad()
def cross_attention(model: Restorer, source: Tensor, target: Tensor) -> Tensor:
    """Return the cross-attention weights (layers, h, Lt, Ls) for one sentence.

    ``source`` are ids (1, Ls); ``target`` are ids (1, Lt), beginning with BOS.
    """
    weights: list[Tensor] = []
    hooks = [
        layer.cross_attention.register_forward_hook(
            lambda _, inputs, output: weights.append(output[1][0])
        )
        for layer in model.transformer.decoder.layers
    ]
    try:
        model.eval()(source, target)
    finally:
        for hook in hooks:
            hook.remove()
    return torch.stack(weights)
