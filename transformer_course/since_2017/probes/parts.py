"""Probes of RMSNorm, of grouped attention, and of a published model's tensors."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import torch

from autograder.checks.probes import (
    Inputs,
    Seen,
    describe,
    join_names,
    probe,
    select_by_prefix,
    tensor,
)
from autograder.checks.probes.default import CALL, create_module, observe_call
from autograder.checks.probes.weights import INITIALISATION
from transformer_course.library.observing import read_integers

_LEARNING = f"parameters; {INITIALISATION}"


@probe(
    "since_2017/rms_norm",
    results="the output; weight at first",
    form="type of *",
    limits="a row of bfloat16 has another size",
    calls="* afterwards",
    gradients="gradient of *",
    learning=_LEARNING,
)
def rms_norm(module_class: Callable[..., Any], inputs: Inputs) -> Seen:
    """Report an ordinary call, the initial weight and, in some cases, the precision."""
    observations = observe_call(module_class, inputs)
    weight = getattr(create_module(module_class, inputs), "weight", None)
    observations["weight at first"] = tensor(weight, "`weight`").clone()
    if "dtype" in json.loads(inputs[CALL]):
        resized = _find_resized_row(module_class)
        observations["a row of bfloat16 has another size"] = resized
    return observations


def _find_resized_row(module_class: Callable[..., Any]) -> torch.Tensor:
    """Return whether the norm of any of many long rows is off by more than 0.25%.

    Rounding the root mean square to bfloat16 does this; rounding entries does not.
    """
    rows, size = 32, 512
    indices = torch.arange(rows * size, dtype=torch.float64).view(rows, size)
    scales = torch.linspace(1, 3, rows, dtype=torch.float64)[:, None]
    x = ((indices * 1.7).cos() * scales).bfloat16()
    normed = tensor(module_class(size)(x), "the output").detach().double()
    wide = x.double()
    # By what each row was scaled (least squares), and by what it should be.
    factors = (normed * wide).sum(-1) / wide.square().sum(-1)
    exact = wide.square().mean(-1).rsqrt()
    return ((factors / exact - 1).abs() > 0.0025).any()


class _File(Mapping[str, torch.Tensor]):
    """The tensors of a file by name; logs which of them are looked up."""

    def __init__(self, tensors: dict[str, torch.Tensor]):
        self.tensors = tensors
        self.looked_up: list[str] = []

    def __getitem__(self, name: str) -> torch.Tensor:
        self.looked_up.append(name)
        return self.tensors[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.tensors)

    def __len__(self) -> int:
        return len(self.tensors)


@probe(
    "since_2017/published_tensor",
    results="*.weight",
    form="most tensors looked up in one call",
    calls="* afterwards",
)
def published_tensor(function: Callable[..., Any], inputs: Inputs) -> Seen:
    """Report the tensor that the student's function finds for each parameter.

    Also report how many tensors of the file it looks up, and which it changes.
    """
    stored = select_by_prefix(inputs, "published.")
    originals = {name: value.clone() for name, value in stored.items()}
    heads = read_integers(inputs, "num_heads", "num_kv_heads")
    observations: Seen = {}
    most = 0
    for name in str(inputs["own"]).split(", "):
        file = _File(stored)
        parameter = tensor(function(name, file, *heads), f"`{name}`")
        observations[name] = parameter.clone()
        most = max(most, len(set(file.looked_up)))
    written = [
        name for name, value in originals.items() if not stored[name].equal(value)
    ]
    return observations | {
        "most tensors looked up in one call": torch.tensor(most),
        "tensors of the file with different values afterwards": join_names(written),
    }


@probe(
    "since_2017/grouped_attention",
    results="output; the error",
    calls="* afterwards",
    gradients="gradient of *",
    parts={"weights": "weights"},
)
def grouped_attention(function: Callable[..., Any], inputs: Inputs) -> Seen:
    """Report an ordinary call, or the error that incompatible sizes raise.

    Sizes are incompatible if the number of heads of k does not divide that of q.
    """
    if inputs["q"].size(1) % inputs["k"].size(1):
        return {"the error": _read_refusal(function, *(inputs[name] for name in "qkv"))}
    return observe_call(function, inputs)


def _read_refusal(function: Callable[..., Any], *tensors: torch.Tensor) -> str:
    """The name of the error that impossible sizes raise, or a remark if there is none.

    A NotImplementedError is passed on, because an unsolved exercise raises it.
    """
    try:
        result = function(*tensors)
    except NotImplementedError:
        raise
    except Exception as error:
        return type(error).__name__
    return f"no error, but {describe(result)}"
