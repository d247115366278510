"""Probes of unit 05: where attention looks, and attention with a cache."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import nn

from autograder.checks.probes import Inputs, Seen, probe, returned, tensor
from autograder.checks.probes.weights import load_weights
from autograder.units.sequence_reversal.probes.observing import the_share


@probe(
    "sequence_reversal/antidiagonal_share",
    results="share",
    calls="kind of the share; * afterwards",
)
def antidiagonal_share(function: Any, inputs: Inputs) -> Seen:
    """The share, and both tensors afterwards."""
    weights, lengths = inputs["weights"], inputs["lengths"]
    if "head" in inputs:  # as a map is cut out of those of all heads
        weights = torch.stack((-weights, weights, weights / 2), dim=1)[:, 1]
    return {
        **the_share(function(weights, lengths)),
        "weights afterwards": weights,
        "lengths afterwards": lengths,
    }


class _Layer(nn.Module):
    """Multi-head attention with the names of unit 3; logs how much it projects."""

    def __init__(self, inputs: Inputs):
        super().__init__()
        d_model, self.num_heads = len(inputs["weights.w_q.bias"]), int(inputs["heads"])
        self.w_q, self.w_k, self.w_v, self.w_o = (
            nn.Linear(d_model, d_model) for _ in range(4)
        )
        self.most = self.places = 0  # of one call, and of all together
        self._batch = len(inputs["x"])
        for layer in (self.w_k, self.w_v):
            layer.register_forward_hook(self._log)

    def _log(
        self, layer: nn.Module, given: tuple[Any, ...], result: torch.Tensor
    ) -> None:
        # This also holds for inputs without a dimension of length 1 for the position.
        places = given[0].numel() // given[0].size(-1) // self._batch
        self.most = max(self.most, places)
        self.places += places

    def forward(
        self, query: torch.Tensor, key: torch.Tensor, value: torch.Tensor,
        mask: torch.Tensor | None = None,
    ) -> tuple[torch.Tensor, torch.Tensor]:  # fmt: skip
        q, k, v = (
            rows.unflatten(-1, (self.num_heads, -1)).transpose(1, 2)
            for rows in (self.w_q(query), self.w_k(key), self.w_v(value))
        )
        weights = (q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))).softmax(-1)
        return self.w_o((weights @ v).transpose(1, 2).flatten(2)), weights


@probe(
    "sequence_reversal/attend_with_cache",
    results="outputs; outputs of a second sequence; output from *; "
    "output after the weights of w_k and w_v have changed; "
    "old keys or values computed again; a place projected more than once",
    calls="* afterwards",
)
def attend_with_cache(function: Any, inputs: Inputs) -> Seen:
    """Outputs step by step, of another sequence, and from older caches again."""
    layer = _Layer(inputs)
    load_weights(layer, inputs)
    x, other = inputs["x"], inputs["other"]
    with torch.no_grad():
        outputs, caches = _walk(function, layer, x)
        second, _ = _walk(function, layer, other)
        back, _ = _step(function, layer, other[:, :1], caches[1])
        on, _ = _step(function, layer, other[:, 1:2], caches[-1])
        most, places = layer.most, layer.places
        for linear in (layer.w_k, layer.w_v):
            linear.weight.mul_(2.0)  # of what is new; what is kept stays as it was
        later, _ = _step(function, layer, x[:, :1], caches[-1])
    return {
        "outputs": outputs,
        "outputs of a second sequence": second,
        "output from an older cache": back,
        "output from the newest cache after that": on,
        "output after the weights of w_k and w_v have changed": later,
        "old keys or values computed again": torch.tensor(most > 1),
        "a place projected more than once": torch.tensor(
            places > 2 * (x.size(1) + other.size(1) + 2)
        ),
        "x afterwards": x,
    }


def _walk(
    function: Any, layer: nn.Module, x: torch.Tensor
) -> tuple[torch.Tensor, list[Any]]:
    """All outputs (B, T, d_model), and the cache after each step."""
    outputs, caches, cache = [], [], None
    for t in range(x.size(1)):
        output, cache = _step(function, layer, x[:, t : t + 1], cache)
        outputs.append(output)
        caches.append(cache)
    return torch.cat(outputs, dim=1), caches


def _step(
    function: Any, layer: nn.Module, x: torch.Tensor, cache: Any
) -> tuple[torch.Tensor, Any]:
    output, cache = returned(function(layer, x, cache), "output", "cache")
    return tensor(output, "the output"), cache
