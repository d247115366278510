"""Probes of functions that reshape masks or copy the weights of modules."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import nn

from autograder.checks.exercise import WrongAnswerError
from autograder.checks.probes import (
    Inputs,
    Seen,
    describe,
    join_names,
    probe,
    tensor,
)
from autograder.checks.probes.default import observe_call

_KINDS = ("weight", "bias")


@probe(
    "multi_head_attention/mask_for_heads",
    results="the mask; the answer without a mask",
    calls="* afterwards",
)
def mask_for_heads(function: Any, inputs: Inputs) -> Seen:
    """Report a call with the mask of the case, or with None if it has no mask."""
    if "mask" in inputs:
        return observe_call(function, inputs)
    answer = function(None)
    kind = "None" if answer is None else describe(answer)
    return {"the answer without a mask": kind}


@probe(
    "multi_head_attention/pack_heads",
    results="w_?.weight; last digits of *; other names; types of the tensors",
    calls="second call, of heads that have changed since; * afterwards",
    parts={"bias": "w_?.bias"},
)
def pack_heads(function: Any, inputs: Inputs) -> Seen:
    """Report how the student packs the projections of all heads into six tensors.

    A second call shows whether changed weights are packed anew. In a case with
    "double", the precision of the tensors is reported instead of their values.
    """
    count = int(inputs["num_heads"])
    if "double" in inputs:
        # A third has digits that float32 would lose.
        inputs = {
            name: value.double() / 3 if name.startswith("weights.") else value
            for name, value in inputs.items()
        }
    heads = [
        _make_projections(inputs, f"weights.heads.{i}.", "qkv") for i in range(count)
    ]
    names = [f"w_{n}.{kind}" for n in "qkv" for kind in _KINDS]
    observations = _read_tensors(function(heads), names)
    if "double" in inputs:
        numbers = {n: v for n, v in observations.items() if isinstance(v, torch.Tensor)}
        types = sorted({str(value.dtype) for value in numbers.values()})
        observations = {
            name: value for name, value in observations.items() if name not in numbers
        }
        observations |= {
            f"last digits of {n}": _scale_lost_digits(v) for n, v in numbers.items()
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
        "second call, of heads that have changed since": _observe_second_call(
            lambda: function(heads), nn.ModuleList(heads)
        ),
    }


def _read_tensors(answer: object, names: Sequence[str]) -> Seen:
    """Return the named tensors in the student's dict, and its "other names".

    Raises:
        WrongAnswerError: there is no dict, or a named value is not a tensor.
    """
    if not isinstance(answer, Mapping):
        raise WrongAnswerError(f"expected a dict of tensors, got {describe(answer)}")
    extra = sorted(set(map(str, answer)) - set(names))
    observations = {
        name: tensor(answer[name], f"`{name}`") for name in names if name in answer
    }
    return observations | {"other names": join_names(extra)}


def _scale_lost_digits(numbers: torch.Tensor) -> torch.Tensor:
    """The part of float64 numbers that float32 cannot represent, scaled up."""
    exact = numbers.double()
    return ((exact - exact.float()) * 2**24).float()


@probe(
    "multi_head_attention/to_pytorch",
    results="num_heads; output",
    calls="second call, of a layer that has changed since; "
    "yours is in training mode afterwards; "
    "* of yours when theirs has changed afterwards",
    learning="parameters of theirs that train; "
    "parameters of theirs that an optimizer accepts; "
    "parameters of yours that train afterwards",
    mode="in training mode",
    parts={"weights": "weights", "in_proj_bias": "in_proj_bias"},
)
def to_pytorch(function: Any, inputs: Inputs) -> Seen:
    """Report a student's conversion of a layer to PyTorch's `nn.MultiheadAttention`.

    The converted layer must be independent of the original one.
    """
    mine = _make_projections(inputs, "weights.", "qkvo")
    mine.num_heads = int(inputs["num_heads"])
    # The contract does not name the dropout module, so its name varies.
    setattr(mine, "drop" if mine.num_heads == 4 else "dropout", nn.Dropout(0.25))
    theirs = function(mine)
    if not isinstance(theirs, nn.MultiheadAttention):
        raise WrongAnswerError(
            f"expected an nn.MultiheadAttention, got {describe(theirs)}"
        )
    theirs.eval()
    sequences = [inputs[name] for name in ("query", "key", "value")]
    observations = {
        "num_heads": torch.tensor(theirs.num_heads),
        "in training mode": f"{theirs.dropout:.2f} of the weights are dropped",
        "yours is in training mode afterwards": torch.tensor(mine.training),
        "parameters of theirs that train": torch.tensor(
            sum(p.requires_grad for p in theirs.parameters())
        ),
        "parameters of theirs that an optimizer accepts": torch.tensor(
            sum(p.is_leaf for p in theirs.parameters())
        ),
        "parameters of yours that train afterwards": torch.tensor(
            sum(p.requires_grad for p in mine.parameters())
        ),
    }
    with torch.no_grad():
        # The keys' bias cancels in the softmax, so it is reported directly.
        observations["in_proj_bias"] = theirs.in_proj_bias.clone()
        observations["second call, of a layer that has changed since"] = (
            _observe_second_call(lambda: function(mine), mine)
        )
        output, weights = theirs(*sequences, average_attn_weights=False)
        for parameter in theirs.parameters():
            parameter.add_(1)  # must not change `mine`, of which it is a copy
    observations |= {"output": output, "weights": weights}
    return observations | {
        f"{name} of yours when theirs has changed afterwards": parameter
        for name, parameter in mine.named_parameters()
    }


def _make_projections(inputs: Inputs, prefix: str, letters: str) -> Any:
    """A stand-in module whose linear layers ``w_<letter>`` hold the given weights."""
    module = nn.Module()
    for letter in letters:
        weight, bias = (inputs[f"{prefix}w_{letter}.{kind}"] for kind in _KINDS)
        layer = nn.Linear(weight.size(1), weight.size(0))
        layer.weight.data, layer.bias.data = weight, bias
        setattr(module, f"w_{letter}", layer)
    return module


def _observe_second_call(call: Callable[[], object], module: nn.Module) -> str:
    """Return "new numbers" if a second call uses changed weights, else "old numbers".

    ``call`` returns tensors or a module; the weights that change are ``module``'s.
    """
    before = _copy_tensors(call())
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.neg_()
    try:
        after = _copy_tensors(call())
    finally:
        with torch.no_grad():
            for parameter in module.parameters():
                parameter.neg_()
    # Zeros and integers stay the same with other signs, so they prove nothing.
    stale = (
        name in after and bool(old.any()) and torch.equal(old, after[name])
        for name, old in before.items()
        if old.is_floating_point()
    )
    return "old numbers" if any(stale) else "new numbers"


def _copy_tensors(container: object) -> dict[str, torch.Tensor]:
    """Copy the tensors of a dict or of a module."""
    if isinstance(container, nn.Module):
        container = dict(container.named_parameters())
    named = container.items() if isinstance(container, Mapping) else ()
    return {n: v.detach().clone() for n, v in named if isinstance(v, torch.Tensor)}
