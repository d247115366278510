"""The probe of attention with a cache: chunks, old caches, and projected positions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import nn

from autograder.checks.probes import Inputs, Seen, probe, returned, tensor
from autograder.checks.probes.weights import load_weights
from transformer_course.library.observing import read_integers


class _Layer(nn.Module):
    """An attention layer's four projections; logs how many positions each projects."""

    def __init__(self, inputs: Inputs):
        super().__init__()
        self.num_heads, self.num_kv_heads, self.base = read_integers(
            inputs, "num_heads", "num_kv_heads", "base"
        )
        self._batch = len(inputs["x"])
        self.seen = dict.fromkeys(("w_q", "w_k", "w_v", "w_o"), 0)
        for name in self.seen:
            rows, columns = inputs[f"weights.{name}.weight"].shape
            linear = nn.Linear(columns, rows, bias=False)
            linear.register_forward_hook(
                lambda _, given, result, name=name: self._log(name, given[0], result)
            )
            self.add_module(name, linear)
        self.keys = torch.zeros(0)  # the newest keys, before they are rotated

    def _log(self, name: str, vectors: torch.Tensor, result: torch.Tensor) -> None:
        """Count the positions that a projection gets, and store the newest keys."""
        # Batch and positions may be flattened into one dimension.
        self.seen[name] += vectors.numel() // vectors.size(-1) // self._batch
        if name == "w_k":
            self.keys = result.detach()


@probe(
    "since_2017/attend_with_cache",
    results="outputs; outputs of a second text; outputs of one row alone; "
    "output from *; positions projected; "
    "more is kept than the heads of keys and values; "
    "keys are kept as they were before they are turned",
    calls="* afterwards",
)
def attend_with_cache(function: Callable[..., Any], inputs: Inputs) -> Seen:
    """Report the outputs of the student's attention for a text that it gets in chunks.

    Further calls use other texts, and caches that it returned earlier. In a case
    with "measured", the content of the cache is reported too.
    """
    layer = _Layer(inputs)
    load_weights(layer, inputs)
    x, chunks = inputs["x"], inputs["chunks"].tolist()
    with torch.no_grad():
        outputs, caches = _run_chunks(function, layer, x, chunks)
        # The layer has the keys of its last call, so this comes before further calls.
        unturned = torch.tensor(_contains(caches[-1], layer.keys))
        counts = ", ".join(f"{name} {count}" for name, count in layer.seen.items())
        second, _ = _run_chunks(function, layer, inputs["other"], chunks[::-1])
        first_size, two_sizes = chunks[0], sum(chunks[:2])
        alone, _ = _run_chunks(function, layer, x[1:2, :two_sizes], chunks[:2])
        # Later calls must not have changed caches that were returned earlier.
        back, _ = _run_chunk(
            function, layer, inputs["other"][:, :first_size], caches[0]
        )
        onward, _ = _run_chunk(function, layer, x[:, :1], caches[-1])
    size = {}
    if "measured" in inputs:
        grown = _count_entries(caches[-1]) - _count_entries(caches[-2])
        keeps_more = torch.tensor(grown > _count_new(layer, x, chunks[-1]))
        size["more is kept than the heads of keys and values"] = keeps_more
        size["keys are kept as they were before they are turned"] = unturned
    return size | {
        "outputs": outputs,
        "positions projected": counts,
        "outputs of a second text": second,
        "outputs of one row alone": alone,
        "output from an older cache": back,
        "output from the newest cache after that": onward,
        "x afterwards": x,
    }


def _count_new(layer: _Layer, x: torch.Tensor, positions: int) -> int:
    """The number of entries that a chunk of this many positions adds to a cache."""
    d_k = x.size(-1) // layer.num_heads
    return 2 * x.size(0) * layer.num_kv_heads * positions * d_k


def _list_tensors(cache: object) -> Iterator[torch.Tensor]:
    """All tensors in a cache of nested dicts, tuples and lists."""
    if isinstance(cache, torch.Tensor):
        yield cache
    elif isinstance(cache, dict | tuple | list):
        for part in cache.values() if isinstance(cache, dict) else cache:
            yield from _list_tensors(part)


def _count_entries(cache: object) -> int:
    """The number of floating-point entries in a cache."""
    return sum(
        entry.numel() for entry in _list_tensors(cache) if entry.is_floating_point()
    )


def _contains(cache: object, keys: torch.Tensor) -> bool:
    """Return whether one cached tensor has all entries of ``keys``, in any order."""
    return keys.numel() > 0 and any(
        bool(torch.isin(keys, entry.flatten()).all()) for entry in _list_tensors(cache)
    )


def _run_chunks(
    function: Callable[..., Any], layer: nn.Module, x: torch.Tensor, chunks: list[int]
) -> tuple[torch.Tensor, list[Any]]:
    """Pass x in chunks; return the outputs (B, T, d_model), and all the caches."""
    outputs: list[torch.Tensor] = []
    caches: list[Any] = []
    for rows in x.split(chunks, dim=1):
        output, cache = _run_chunk(function, layer, rows, *caches[-1:])
        outputs.append(output)
        caches.append(cache)
    return torch.cat(outputs, dim=1), caches


def _run_chunk(
    function: Callable[..., Any], layer: nn.Module, x: torch.Tensor, *cache: Any
) -> tuple[torch.Tensor, Any]:
    """Call the student's function with x and a cache, if any: (output, new cache)."""
    output, new = returned(function(layer, x, *cache), "output", "cache")
    return tensor(output, "the output"), new
