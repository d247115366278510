"""Probes of the modules that add positions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from autograder.checks.probes import Inputs, Seen, probe
from autograder.checks.probes.default import (
    create_module,
    observe_call,
    read_arguments,
)
from autograder.checks.probes.weights import (
    INITIALISATION,
    load_weights,
    starting_as_zero,
)

DROPOUT = torch.tensor(0.25)  # the rate for the input layer in training mode


@probe(
    "positional_encoding/module",
    results="output",
    calls="* afterwards",
    gradients="gradient of *",
    learning="pe is a buffer; dtype after .to(torch.bfloat16); "
    f'device after .to("meta"); parameters; {INITIALISATION}',
)
def module(module_class: Any, inputs: Inputs) -> Seen:
    """Report an ordinary call of the module, and whether `pe` is a buffer that moves.

    A buffer moves if it follows the module to another dtype and device.
    """
    observations = observe_call(module_class, inputs)
    created, x = create_module(module_class, inputs), inputs["x"].to(torch.bfloat16)
    buffers = [name for name, _ in created.named_buffers()]
    without_pe = "no, but another one is" if buffers else "no"
    observations["pe is a buffer"] = "yes" if "pe" in buffers else without_pe
    observations["dtype after .to(torch.bfloat16)"] = _describe_result(
        lambda: created.to(torch.bfloat16)(x).dtype
    )
    observations['device after .to("meta")'] = _describe_result(
        lambda: _move_to_meta(created, x).device
    )
    return observations


def _move_to_meta(module: nn.Module, x: torch.Tensor) -> torch.Tensor:
    """Move a module to the device "meta"; return its buffer `pe`, or else an output.

    An output is slow: its first addition there imports PyTorch's compiler.
    """
    module.to("meta")
    buffer = dict(module.named_buffers()).get("pe")
    return module(x.to("meta")) if buffer is None else buffer


def _describe_result(call: Callable[[], object]) -> str:
    """Call a function; return its result as text, or the name of the error raised."""
    try:
        return str(call())
    except Exception as error:
        return type(error).__name__


@probe(
    "positional_encoding/input_layer",
    results="output",
    form="positions",
    calls="* afterwards",
    learning=f"parameters; vectors that start as zero; {INITIALISATION}",
    mode="in training mode",
)
def input_layer(module_class: Any, inputs: Inputs) -> Seen:
    """Report a call in eval mode, and how training mode changes the output.

    A stand-in adds the positions; the layer must keep this very module.
    """
    positions = _AddRows(inputs["make.positions"])
    weight = inputs["weights.embedding.weight"].clone()
    weight[int(inputs["make.padding_idx"])] = 0  # as in a new embedding layer
    inputs = {**inputs, "weights.embedding.weight": weight}

    def create_layer(vocab_size: int, d_model: int, _: Any, *options: Any) -> Any:
        return module_class(vocab_size, d_model, positions, *options)

    observations = observe_call(create_layer, inputs)
    layer = create_module(create_layer, inputs)
    observations["vectors that start as zero"] = starting_as_zero(layer)
    is_same = getattr(layer, "positions", None) is positions
    layer = create_module(create_layer, inputs | {"make.dropout": DROPOUT})
    layer, ids = load_weights(layer, inputs), read_arguments(inputs)["ids"]
    in_eval, in_training = layer(ids), layer.train()(ids)
    observations["in training mode"] = _describe_dropout(in_eval, in_training)
    if not torch.equal(in_eval, observations["output"]):
        observations["in training mode"] += "; in eval mode, too"
    word = "the module that was given" if is_same else "another one"
    return observations | {"positions": word}


class _AddRows(nn.Module):
    """A stand-in for the student's module that adds positions, with trainable rows."""

    def __init__(self, rows: torch.Tensor):
        super().__init__()
        self.rows = nn.Parameter(rows)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.rows[: x.size(1)]


def _is_alike_along(dim: int, is_kept: torch.Tensor) -> bool:
    """Return whether dropout drops whole slices along a dimension instead of entries.

    ``is_kept`` marks the entries that dropout has kept.
    """
    return is_kept.size(dim) > 1 and bool((is_kept.all(dim) == is_kept.any(dim)).all())


def _describe_dropout(in_eval: torch.Tensor, in_training: torch.Tensor) -> str:
    """Describe how the output in training mode differs from that in eval mode."""
    if in_eval.shape != in_training.shape:
        return "another shape"
    is_kept = in_training != 0
    zeros = "no numbers are zero" if is_kept.all() else "some numbers are zero"
    if not is_kept.all() and any(
        _is_alike_along(dim, is_kept) for dim in range(is_kept.dim())
    ):
        zeros = "whole rows of numbers are zero"
    # The common factor that fits best, by least squares.
    factor = (in_training * in_eval)[is_kept].sum() / in_eval[is_kept].square().sum()
    if not torch.allclose(in_training[is_kept], factor * in_eval[is_kept], atol=1e-3):
        return f"{zeros}, the others changed unevenly"
    return f"{zeros}, the others are {factor:.3f} times as large"
