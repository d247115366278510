"""Probes of what came after LLaMA: norms, windows, experts, and Muon's iteration."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from autograder.checks.probes import (
    Inputs,
    Seen,
    gradients,
    kind,
    options,
    probe,
    tensor,
)
from autograder.checks.probes.weights import beginning, load_weights
from transformer_course.since_2017.probes.observing import (
    module_answers,
    module_probe,
    number,
    whole,
)


@probe("since_2017/window_mask", results="mask")
def window_mask(function: Callable[..., Any], inputs: Inputs) -> Seen:
    """The mask, of whatever dtype."""
    return {"mask": tensor(function(*whole(inputs, *inputs)), "the mask")}


@probe("since_2017/cache_bytes", results="bytes", calls="kind of the bytes")
def cache_bytes(function: Callable[..., Any], inputs: Inputs) -> Seen:
    """How many bytes, and whether they are a whole number."""
    windows = [window or None for window in inputs["windows"].tolist()]
    found = function(
        windows, *whole(inputs, "length", "num_kv_heads", "d_k"), **options(inputs)
    )
    return {"bytes": number(found, "the bytes"), "kind of the bytes": kind(found, int)}


@probe(
    "since_2017/route",
    results="weights; weights in order of size",
    calls="* afterwards",
    learning="gradient of the logits",
)
def route(function: Callable[..., Any], inputs: Inputs) -> Seen:
    """The weights, and the gradient of the logits.

    Where logits are equal, any of them may be chosen: only the sizes are compared.
    """
    logits, (top_k,) = inputs["logits"], whole(inputs, "top_k")

    def call(logits: torch.Tensor) -> torch.Tensor:
        return tensor(function(logits, top_k), "the weights")

    weights = call(logits)
    if "any order" in inputs:
        return {"weights in order of size": weights.sort(-1, descending=True).values}
    seen = {"weights": weights, "logits afterwards": logits}
    return seen | gradients(call, [logits], ["the logits"], inputs)


@module_probe(
    "since_2017/mixture",
    results="output; output of one row alone",
    calls="* afterwards; vectors that the experts compute",
)
def mixture(module_class: Callable[..., Any], inputs: Inputs) -> Seen:
    """What the module does, and how many vectors each of its experts is given."""
    sizes = whole(inputs, "d_ff", "num_experts")
    made = module_class(inputs["x"].size(-1), *sizes, **options(inputs))
    start, module = beginning(made, inputs), load_weights(made, inputs)
    counts = [0] * sizes[1]
    experts: Any = module.experts
    for index, expert in enumerate(experts):
        expert.register_forward_hook(_counting(counts, index))
    with torch.no_grad():
        module(inputs["x"])
    computed = ", ".join(map(str, counts))
    return (
        {"vectors that the experts compute": computed}
        | module_answers(module, inputs)
        | start
    )


def _counting(counts: list[int], index: int) -> Callable[..., None]:
    def hook(module: nn.Module, given: tuple[torch.Tensor, ...], result: Any) -> None:
        counts[index] += given[0].numel() // given[0].size(-1)

    return hook


@probe(
    "since_2017/load_balance",
    results="loss",
    calls="* afterwards",
    learning="gradient of the logits",
)
def load_balance(function: Callable[..., Any], inputs: Inputs) -> Seen:
    """The loss, and its gradient."""
    (top_k,) = whole(inputs, "top_k")
    leaf = inputs["logits"].clone().requires_grad_()
    loss = tensor(function(leaf, top_k), "the loss")
    if loss.requires_grad and loss.dim() == 0:
        loss.backward()
    still = torch.zeros_like(leaf)
    return {
        "loss": loss.detach(),
        "gradient of the logits": still if leaf.grad is None else leaf.grad,
        "logits afterwards": leaf.detach(),
    }


@probe("since_2017/orthogonalise", results="result", calls="* afterwards")
def orthogonalise(function: Callable[..., Any], inputs: Inputs) -> Seen:
    """The result, and the matrix afterwards."""
    update, given = inputs["update"], options(inputs)
    result = tensor(function(update, **given), "the result")
    return {"result": result.clone(), "update afterwards": update}
