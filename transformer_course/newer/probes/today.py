"""Probes of what came after LLaMA: norms, windows, experts, and Muon's iteration."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from autograder.checks.probes import (
    Inputs,
    Seen,
    options,
    probe,
    tensor,
)
from autograder.checks.probes.weights import beginning, load_weights
from transformer_course.library.observing import (
    module_answers,
    module_probe,
    read_numbers,
    whole,
)


@probe("newer/window_mask", results="mask")
def window_mask(function: Callable[..., Any], inputs: Inputs) -> Seen:
    """Report the mask, of whatever dtype."""
    return {"mask": tensor(function(*whole(inputs, *inputs)), "the mask")}


@module_probe(
    "newer/qk_norm",
    results="output; output moves with x; output of one row alone; "
    "num_heads; num_kv_heads; base",
)
def qk_norm(module_class: Callable[..., Any], inputs: Inputs) -> Seen:
    """Report who sees whom, what the module computes, and the numbers that it keeps."""
    sizes = whole(inputs, "num_heads", "num_kv_heads")
    new_module = module_class(inputs["x"].size(-1), *sizes, **options(inputs))
    start, module = beginning(new_module, inputs), load_weights(new_module, inputs)
    start |= read_numbers(module, "num_heads", "num_kv_heads", "base")
    return module_answers(module, inputs) | start


@module_probe(
    "newer/mixture",
    results="output; output of one row alone",
    calls="* afterwards; vectors that the experts compute",
)
def mixture(module_class: Callable[..., Any], inputs: Inputs) -> Seen:
    """Report what the module computes, and how many vectors each expert is given."""
    sizes = whole(inputs, "d_ff", "num_experts")
    new_module = module_class(inputs["x"].size(-1), *sizes, **options(inputs))
    start, module = beginning(new_module, inputs), load_weights(new_module, inputs)
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
    def hook(
        module: nn.Module, arguments: tuple[torch.Tensor, ...], result: Any
    ) -> None:
        counts[index] += arguments[0].numel() // arguments[0].size(-1)

    return hook


@probe(
    "newer/load_balance",
    results="loss",
    calls="* afterwards",
    learning="gradient of the logits",
)
def load_balance(function: Callable[..., Any], inputs: Inputs) -> Seen:
    """Report the loss, and its gradient."""
    (top_k,) = whole(inputs, "top_k")
    leaf = inputs["logits"].clone().requires_grad_()
    loss = tensor(function(leaf, top_k), "the loss")
    if loss.requires_grad and loss.dim() == 0:
        loss.backward()
    zeros = torch.zeros_like(leaf)
    return {
        "loss": loss.detach(),
        "gradient of the logits": zeros if leaf.grad is None else leaf.grad,
        "logits afterwards": leaf.detach(),
    }


@probe("newer/orthogonalise", results="result", calls="* afterwards")
def orthogonalise(function: Callable[..., Any], inputs: Inputs) -> Seen:
    """Report the result, and the matrix afterwards."""
    update, settings = inputs["update"], options(inputs)
    result = tensor(function(update, **settings), "the result")
    return {"result": result.clone(), "update afterwards": update}
