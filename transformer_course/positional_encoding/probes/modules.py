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
    """Outputs for one or two inputs, what trains, and what moves with the module."""
    built = the_module(make(inputs["table"]))
    x = inputs["x"].requires_grad_("pull" in inputs)
    output = tensor(built(x), "the output")
    seen = {"output": output, "x afterwards": x}
    built.eval()
    built(in_eval := x.detach().clone())
    built.train()
    seen["x in eval mode afterwards"] = in_eval
    if "pull" in inputs:
        seen |= gradient("x", output, x, inputs["pull"])
    if "longer x" in inputs:
        seen["output for a longer x"] = tensor(built(inputs["longer x"]), "the output")
    seen["numbers to train"] = torch.tensor(sum(p.numel() for p in built.parameters()))
    buffers = [name for name, _ in built.named_buffers()]
    other = "no, but another one is" if buffers else "no"
    seen["pe is a buffer"] = "yes" if "pe" in buffers else other
    if "move" in inputs:
        half = inputs["x"].detach().to(torch.bfloat16)
        seen["dtype after .to(torch.bfloat16)"] = comes_to(
            lambda: built.to(torch.bfloat16)(half).dtype
        )
        seen['device after .to("meta")'] = comes_to(
            lambda: built.to("meta")(half.to("meta")).device
        )
    return seen


@probe(
    "positional_encoding/input_layer",
    results="output; positions",
    calls="output of a second call",
    learning="parameters; vectors that start as zero; gradient of *",
    mode="in training mode",
)
def input_layer(make: Any, inputs: Inputs) -> Seen:
    """Values and gradient in eval mode, and what training mode does to the values."""
    ids, d_model = inputs["ids"], inputs["positions"].shape[-1]
    vocab_size, padding_idx = int(inputs["vocab_size"]), int(inputs["padding_idx"])
    given = _AddRows(inputs["positions"])

    def made(*options: float) -> nn.Module:
        layer = the_module(make(vocab_size, d_model, given, *options))
        return load_weights(layer, inputs)

    fresh = the_module(make(vocab_size, d_model, given, 0.0, padding_idx))
    layer = made(float(inputs.get("rate", 0.0)), padding_idx)
    weights = dict(layer.named_parameters())
    output = tensor(layer(ids), "the output")
    learning = [n for n in ("embedding.weight", "positions.rows") if n in weights]
    grads = [gradient(n, output, weights[n], inputs["pull"]) for n in learning]
    calm, trained = _both_modes(made(DROPOUT, padding_idx), ids)
    dropping = _dropped(output, trained)
    if not torch.equal(calm, output):
        dropping += "; in eval mode, too"
    once = {}
    if padding_idx == 0:  # as nobody need say
        by_default = _dropped(*_both_modes(made(), ids.repeat(8, 1)))
        dropping += f"; by default: {by_default}"
        kept = getattr(layer, "positions", None) is given
        once["positions"] = "the module that was given" if kept else "another one"
    return {
        **once,
        "output": output,
        **{name: grad for found in grads for name, grad in found.items()},
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


def _alike_along(dim: int, kept: torch.Tensor) -> bool:
    """Whether a dimension's numbers are kept, or not, all together."""
    return kept.size(dim) > 1 and bool((kept.all(dim) == kept.any(dim)).all())


def _dropped(calm: torch.Tensor, trained: torch.Tensor) -> str:
    """In words, how the output of training mode differs from that of eval mode."""
    if calm.shape != trained.shape:
        return "another shape"
    kept = trained != 0
    zeros = "no numbers are zero" if kept.all() else "some numbers are zero"
    if not kept.all() and any(_alike_along(dim, kept) for dim in range(kept.dim())):
        zeros = "whole rows of numbers are zero"
    factor = (trained * calm)[kept].sum() / calm[kept].square().sum()
    if not torch.allclose(trained[kept], factor * calm[kept], atol=1e-3):
        return f"{zeros}, the others changed unevenly"
    return f"{zeros}, the others are {factor:.3f} times as large"
