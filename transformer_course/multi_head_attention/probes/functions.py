"""Functions of heads and masks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from autograder.checks.exercise import WrongAnswerError
from autograder.checks.probes import (
    Inputs,
    Seen,
    describe,
    gradients,
    probe,
    tensor,
)
from transformer_course.multi_head_attention.probes.observing import (
    KINDS,
    after_learning,
    beyond_float32,
    projections,
    read_tensors,
)


@probe(
    "multi_head_attention/split_heads",
    results="the heads; type; last digits of the heads",
    calls="* afterwards",
    learning="gradient of x",
)
def split_heads(function: Any, inputs: Inputs) -> Seen:
    """Report the heads, the input afterwards, and a gradient if one is asked for."""
    x, num_heads = inputs["x"], int(inputs["num_heads"])
    return _observe_function(lambda x: function(x, num_heads), x, "the heads", inputs)


def _observe_function(
    function: Callable[..., Any], x: torch.Tensor, name: str, inputs: Inputs
) -> Seen:
    def call(x: torch.Tensor) -> torch.Tensor:
        return tensor(function(x), name)

    if "double" in inputs:
        output = call(x.double() / 3)
        digits = beyond_float32(output)
        return {"type": str(output.dtype), f"last digits of {name}": digits}
    observations = {name: call(x), "x afterwards": x}
    return observations | gradients(call, [x], ["x"], inputs)


@probe(
    "multi_head_attention/pack_heads",
    results="w_?.weight; last digits of *; other names; types of the tensors",
    calls="second call, of heads that have changed since; * afterwards",
    parts={"bias": "w_?.bias"},
)
def pack_heads(function: Any, inputs: Inputs) -> Seen:
    """Report the six packed tensors, and what the heads look like afterwards."""
    count = int(inputs["num_heads"])
    if "double" in inputs:
        inputs = {
            name: value.double() / 3 if name.startswith("weights.") else value
            for name, value in inputs.items()
        }
    heads = [projections(inputs, f"weights.heads.{i}.", "qkv") for i in range(count)]
    names = [f"w_{n}.{kind}" for n in "qkv" for kind in KINDS]
    observations = read_tensors(function(heads), names)
    if "double" in inputs:
        numbers = {n: v for n, v in observations.items() if isinstance(v, torch.Tensor)}
        types = sorted({str(value.dtype) for value in numbers.values()})
        observations = {
            name: value for name, value in observations.items() if name not in numbers
        }
        observations |= {
            f"last digits of {n}": beyond_float32(v) for n, v in numbers.items()
        }
        observations |= {"types of the tensors": ", ".join(types)} if types else {}
    parameters = [p for head in heads for p in head.parameters()]
    modes = {part.training for head in heads for part in head.modules()}
    return observations | {
        "heads afterwards": torch.cat([p.flatten() for p in parameters]).float(),
        "modes of the heads afterwards": ", ".join(map(str, sorted(modes))),
        "all of the heads learns afterwards": str(
            all(p.requires_grad for p in parameters)
        ),
        "second call, of heads that have changed since": after_learning(
            lambda: function(heads), nn.ModuleList(heads)
        ),
    }


@probe(
    "multi_head_attention/mask_for_heads",
    results="dimensions of the ?-D mask's answer; the 2-D mask among the scores; "
    "the 4-D mask among the scores",
    calls="kind of the answer without a mask; * afterwards",
    parts={"3-D": "the 3-D mask among the scores"},
)
def mask_for_heads(function: Any, inputs: Inputs) -> Seen:
    """Report, for masks of every rank, the answer's dimensions and who may attend."""
    shape = tuple(inputs["shape"].tolist())
    none = function(None)
    kind_of_none = "None" if none is None else describe(none)
    observations: Seen = {"kind of the answer without a mask": kind_of_none}
    for name in ("2-D", "3-D", "4-D"):
        if name not in inputs:
            continue
        mask = tensor(function(inputs[name]), "the mask")
        observations[f"dimensions of the {name} mask's answer"] = torch.tensor(
            mask.dim()
        )
        observations[f"the {name} mask among the scores"] = _broadcast(mask, shape)
        observations[f"{name} mask afterwards"] = inputs[name]
    return observations


def _broadcast(mask: torch.Tensor, shape: tuple[int, ...]) -> torch.Tensor:
    try:
        return mask.broadcast_to(shape)
    except RuntimeError:
        raise WrongAnswerError(
            f"expected a mask that broadcasts to the scores {shape}, "
            f"got one of shape {tuple(mask.shape)}"
        ) from None
