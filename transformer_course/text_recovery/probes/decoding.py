"""Probes of unit 06: beam search."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from autograder.checks.probes import Inputs, Log, Seen, probe, tensor
from transformer_course.library.written_rows import drop_padding, trim_at_eos


class Script(nn.Module):
    """A model with known logits, which are sums of entries of two given tables.

    Logits after ``target[:, : t + 1]`` are ``places[sentence, t]`` plus the sum of
    ``habits[token]`` over the prefix. A wrong memory, source or mode changes them.
    """

    one_hot: torch.Tensor  # (S, S)

    def __init__(self, places: torch.Tensor, habits: torch.Tensor):
        super().__init__()
        self.places = nn.Parameter(places)  # (S, T, V)
        self.habits = nn.Parameter(habits)  # (V, V)
        self.register_buffer("one_hot", torch.eye(len(places), dtype=places.dtype))
        self.asked = Log()  # lengths of prefixes
        self.recorded = Log()  # whether gradients were, when it was asked

    def encode(self, source: torch.Tensor) -> torch.Tensor:
        """The sentence as a one-hot vector at every position: (B, Ls, S)."""
        return self._identify(source)[:, None].expand(-1, source.size(1), -1)

    def _identify(self, source: torch.Tensor) -> torch.Tensor:
        """The sentence as a one-hot vector (B, S): its first id is its number + 4."""
        rows = self.one_hot[source[:, 0] - 4]
        return rows.roll(1, dims=-1) if self.training else rows  # another sentence

    def decode(
        self, target: torch.Tensor, memory: torch.Tensor, source: torch.Tensor
    ) -> torch.Tensor:
        """Logits (B, Lt, V) of the token after each target token; also log the call."""
        length, most = target.size(1), self.places.size(1)
        self.asked.append(length)
        self.recorded.append(torch.is_grad_enabled())
        # A wrong memory or source makes this a mixture of two sentences.
        rows = (memory[:, 0] + self._identify(source)) / 2  # (B, S)
        places = self.places[:, :length]  # (S, Lt, V)
        if length > most:  # the last place again and again
            last = places[:, -1:].expand(-1, length - most, -1)
            places = torch.cat([places, last], dim=1)
        logits: torch.Tensor = rows @ places.flatten(1)  # (B, Lt * V)
        logits = logits.view(len(target), length, -1)
        logits = logits + self.habits[target].cumsum(dim=1)
        # In training mode all logits are of other tokens, so that the mistake shows.
        return logits.roll(1, dims=-1) if self.training else logits

    def forward(self, source: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        """Logits (B, Lt, V) of the token after each target token."""
        return self.decode(target, self.encode(source), source)


@probe(
    "text_recovery/beam_search",
    results="tokens before EOS, k *; dimensions for one sentence",
    form="form of the ids, k *",
    limits="tokens of the longest prefix that was read, k *",
    calls="* afterwards",
    learning="gradients recorded, k *",
)
def beam_search(function: Callable[..., Any], inputs: Inputs) -> Seen:
    """Report the ids for each beam size, and how the search called the model.

    Also report the source afterwards.
    """
    observations: Seen = {}
    source = inputs["source"]
    for size in json.loads(inputs["beam_sizes"]):
        model = Script(inputs["places"], inputs["habits"]).train("training" in inputs)
        options = {
            "beam_size": size, "max_len": int(inputs["max_len"]),
            "alpha": float(inputs["alpha"]),
        }  # fmt: skip
        # A beam size of 0 stands for a call with all options left at their defaults.
        ids = function(model, source, **(options if size else {}))
        ids = tensor(ids, "the ids")
        observations |= _observe_beam(model, ids, size)
        if not size:
            alone = tensor(function(model, source[:1]), "the ids of one sentence")
            observations["dimensions for one sentence"] = str(alone.dim())
    return observations | {"source afterwards": source}


def _observe_beam(model: Script, ids: torch.Tensor, size: int) -> Seen:
    """Report the ids for a beam of this size, and how the model was called."""
    k = f"k = {size}" if size else "k by default"
    return {
        f"tokens before EOS, {k}": trim_at_eos(ids),
        f"form of the ids, {k}": drop_padding(ids),
        f"tokens of the longest prefix that was read, {k}": torch.tensor(
            max(model.asked, default=0)
        ),
        f"gradients recorded, {k}": str(any(model.recorded)),
    }
