"""Probes of the attention layer and the language model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from autograder.checks.probes import Inputs, Seen, options, tensor
from autograder.checks.probes.weights import beginning, load_weights
from transformer_course.library.observing import (
    module_answers,
    module_probe,
    name_extras,
    read_numbers,
    settled,
    unmoved,
    who_moves,
    whole,
)


@module_probe(
    "since_2017/attention_layer",
    results="output; output moves with x; output of one row alone; "
    "num_heads; num_kv_heads; base",
)
def attention_layer(module_class: Callable[..., Any], inputs: Inputs) -> Seen:
    """Report who sees whom, what the module computes, and the numbers that it keeps."""
    sizes = whole(inputs, "num_heads", "num_kv_heads")
    new_module = module_class(inputs["x"].size(-1), *sizes, **options(inputs))
    start, module = beginning(new_module, inputs), load_weights(new_module, inputs)
    start |= read_numbers(module, "num_heads", "num_kv_heads", "base")
    return module_answers(module, inputs) | start


@module_probe(
    "since_2017/language_model",
    results="logits; logits move with ids; logits of a shorter batch; "
    "output of one row alone",
)
def language_model(module_class: Callable[..., Any], inputs: Inputs) -> Seen:
    """Report logits of batches, modes and one row, gradients, and who moves whom."""
    names = ("num_heads", "num_kv_heads", "num_layers", "d_ff")
    vocabulary, d_model = inputs["weights.embedding.weight"].shape
    new_module = module_class(
        vocabulary, d_model, *whole(inputs, *names), **options(inputs)
    )
    start, module = beginning(new_module, inputs), load_weights(new_module, inputs)

    def call(ids: torch.Tensor) -> torch.Tensor:
        return tensor(module(ids), "the logits")

    ids = inputs["ids"]
    observations: Seen = {"other parameters": name_extras(module, inputs)} | start
    with torch.no_grad():
        logits = call(ids)
        if "look" in inputs:
            observations["logits move with ids"] = who_moves(call, ids, logits)
        observations |= {"logits": logits, "ids afterwards": ids}
        observations |= settled(module, call, ids)
        observations["logits of a shorter batch"] = call(ids[:, :2])
    if "pull" in inputs:
        observations["parameters without a gradient"] = unmoved(
            module, call(ids), inputs
        )
        table = dict(module.named_parameters())["embedding.weight"].grad
        if table is not None:
            observations["gradient of the embedding"] = table
    return observations
