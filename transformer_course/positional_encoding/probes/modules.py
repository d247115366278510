"""Modules that add positions."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from autograder.checks.probes import Inputs, Seen, probe, tensor
from autograder.checks.probes.weights import load_weights, starting_as_zero
from transformer_course.positional_encoding.probes.observing import (
    comes_to,
    gradient,
    the_module,
)

DROPOUT = 0.25  # the share that the input layer is asked to drop


@probe(
    "positional_encoding/module",
    results="output; output for a longer x",
    form="numbers to train; pe is a buffer; dtype after .to(torch.bfloat16); "
    'device after .to("meta")',
    calls="* afterwards",
    learning="gradient of x",
)
def module(make: Any, inputs: Inputs) -> Seen:
    """Report outputs of one or two inputs, what trains, what moves with the module."""
    built = the_module(make(inputs["table"]))
    x = inputs["x"].requires_grad_("pull" in inputs)
    output = tensor(built(x), "the output")
    observations = {"output": output, "x afterwards": x}
    built.eval()
    built(in_eval := x.detach().clone())
    built.train()
    observations["x in eval mode afterwards"] = in_eval
    if "pull" in inputs:
        observations |= gradient("x", output, x, inputs["pull"])
    if "longer x" in inputs:
        observations["output for a longer x"] = tensor(
            built(inputs["longer x"]), "the output"
        )
    observations["numbers to train"] = torch.tensor(
        sum(p.numel() for p in built.parameters())
    )
    buffers = [name for name, _ in built.named_buffers()]
    without_pe = "no, but another one is" if buffers else "no"
    observations["pe is a buffer"] = "yes" if "pe" in buffers else without_pe
    if "move" in inputs:
        half = inputs["x"].detach().to(torch.bfloat16)
        observations["dtype after .to(torch.bfloat16)"] = comes_to(
            lambda: built.to(torch.bfloat16)(half).dtype
        )
        observations['device after .to("meta")'] = comes_to(
            lambda: built.to("meta")(half.to("meta")).device
        )
    return observations


@probe(
    "positional_encoding/input_layer",
    results="output; positions",
    calls="output of a second call",
    learning="parameters; vectors that start as zero; gradient of *",
    mode="in training mode",
)
def input_layer(make: Any, inputs: Inputs) -> Seen:
    """Report values and gradients in eval mode, and what training mode changes."""
    ids, d_model = inputs["ids"], inputs["positions"].shape[-1]
    vocab_size, padding_idx = int(inputs["vocab_size"]), int(inputs["padding_idx"])
    positions = _AddRows(inputs["positions"])

    def make_layer(*options: float) -> nn.Module:
        layer = the_module(make(vocab_size, d_model, positions, *options))
        return load_weights(layer, inputs)

    fresh = the_module(make(vocab_size, d_model, positions, 0.0, padding_idx))
    layer = make_layer(float(inputs.get("rate", 0.0)), padding_idx)
    weights = dict(layer.named_parameters())
    output = tensor(layer(ids), "the output")
    learning = [n for n in ("embedding.weight", "positions.rows") if n in weights]
    grads = [gradient(n, output, weights[n], inputs["pull"]) for n in learning]
    calm, trained = _both_modes(make_layer(DROPOUT, padding_idx), ids)
    dropping = _describe_dropout(output, trained)
    if not torch.equal(calm, output):
        dropping += "; in eval mode, too"
    identity = {}
    if padding_idx == 0:  # as nobody need say
        by_default = _describe_dropout(*_both_modes(make_layer(), ids.repeat(8, 1)))
        dropping += f"; by default: {by_default}"
        is_same = getattr(layer, "positions", None) is positions
        identity["positions"] = (
            "the module that was given" if is_same else "another one"
        )
    return {
        **identity,
        "output": output,
        **{name: grad for by_name in grads for name, grad in by_name.items()},
        "output of a second call": tensor(layer(ids), "the output"),
        "parameters": ", ".join(sorted(weights)),
        "vectors that start as zero": starting_as_zero(fresh),
        "in training mode": dropping,
    }


def _both_modes(
    layer: nn.Module, ids: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    return layer.eval()(ids), layer.train()(ids)


class _AddRows(nn.Module):
    """Positions of one length that learn, to stand in for the student's own module."""

    def __init__(self, rows: torch.Tensor):
        super().__init__()
        self.rows = nn.Parameter(rows)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.rows


def _alike_along(dim: int, is_kept: torch.Tensor) -> bool:
    """Whether a dimension's numbers are kept, or not, all together."""
    return is_kept.size(dim) > 1 and bool((is_kept.all(dim) == is_kept.any(dim)).all())


def _describe_dropout(calm: torch.Tensor, trained: torch.Tensor) -> str:
    """Say in words how the output of training mode differs from that of eval mode."""
    if calm.shape != trained.shape:
        return "another shape"
    is_kept = trained != 0
    zeros = "no numbers are zero" if is_kept.all() else "some numbers are zero"
    if not is_kept.all() and any(
        _alike_along(dim, is_kept) for dim in range(is_kept.dim())
    ):
        zeros = "whole rows of numbers are zero"
    factor = (trained * calm)[is_kept].sum() / calm[is_kept].square().sum()
    if not torch.allclose(trained[is_kept], factor * calm[is_kept], atol=1e-3):
        return f"{zeros}, the others changed unevenly"
    return f"{zeros}, the others are {factor:.3f} times as large"
