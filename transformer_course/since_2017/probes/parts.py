"""Probes of the small parts: norm, rotary positions, gate, grouped attention."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import torch
from torch import nn

from autograder.checks.probes import (
    Inputs,
    Seen,
    describe,
    gradients,
    join_names,
    options,
    probe,
    returned,
    tensor,
    under,
)
from autograder.checks.probes.weights import beginning, load_weights
from transformer_course.library.observing import (
    in_half,
    module_answers,
    module_probe,
    whole,
)


@probe(
    "since_2017/rms_norm",
    results="weight at first; output; output of one row alone; output for *; "
    "a row of bfloat16 has another size",
    form="dtype for *",
    calls="* afterwards",
    learning="other parameters; parameters without a gradient; gradient of x",
    mode="output in training mode",
)
def rms_norm(module_class: Callable[..., Any], inputs: Inputs) -> Seen:
    """Report the first weight, then what the module does, or does in half precision."""
    new_module = module_class(inputs["x"].size(-1), **options(inputs))
    parameters = (
        dict(new_module.named_parameters()) if isinstance(new_module, nn.Module) else {}
    )
    observations = (
        {"weight at first": parameters["weight"].clone()}
        if "weight" in parameters
        else {}
    )
    x, module = inputs["x"], load_weights(new_module, inputs)

    def call(x: torch.Tensor) -> torch.Tensor:
        return tensor(module(x), "the output")

    if "far" in inputs:  # squares that float64 holds, and float32 does not
        return {"output": call(x.double() * 2.0**80).to(x.dtype)}
    if "half" in inputs:
        half_seen = in_half(call, x)
        half_seen["a row of bfloat16 has another size"] = _resized(module_class)
        module.train()
        trained = in_half(call, x)
        return half_seen | {
            f"{name} in training": value for name, value in trained.items()
        }
    return observations | module_answers(module, inputs)


def _resized(module_class: Callable[..., Any]) -> torch.Tensor:
    """Whether one of many long rows is off by 2.5 thousandths of its size: ().

    Rounding of single numbers moves a row by 1.4 at most, a rounded root some by 4.
    """
    rows, size = 32, 512
    places = torch.arange(rows * size, dtype=torch.float64).view(rows, size)
    scales = torch.linspace(1, 3, rows, dtype=torch.float64)[:, None]
    x = ((places * 1.7).cos() * scales).bfloat16()
    normed = tensor(module_class(size).eval()(x), "the output").detach().double()
    wide = x.double()
    sizes = (normed * wide).sum(-1) / wide.square().sum(-1)
    right = wide.square().mean(-1).rsqrt()
    return ((sizes / right - 1).abs() > 0.0025).any()


@probe(
    "since_2017/rotate",
    results="result; result of one row alone; dtype for *; output for *",
    calls="* afterwards",
    learning="gradient of x",
)
def rotate(function: Callable[..., Any], inputs: Inputs) -> Seen:
    """Report the result, that of one row alone, inputs afterwards, and a gradient."""
    x, angles = inputs["x"], inputs["angles"]

    def call(x: torch.Tensor) -> torch.Tensor:
        return tensor(function(x, angles), "the result")

    if "half" in inputs:
        return in_half(call, x)
    if "far" in inputs:  # 2^26 and a bit: in float32, multiples of 8
        angles = angles.double() + 2**26
        return {"result": call(x).to(x.dtype)}
    alone = x[1:2] if x.dim() > 2 else x
    observations = {"result": call(x), "result of one row alone": call(alone)}
    observations |= {"x afterwards": x, "angles afterwards": angles}
    return observations | gradients(call, [x], ["x"], inputs)


@probe("since_2017/pairs_to_halves", results="weight", calls="* afterwards")
def pairs_to_halves(function: Callable[..., Any], inputs: Inputs) -> Seen:
    """Report the reordered weight, and the original one afterwards."""
    weight = inputs["weight"]
    reordered = tensor(function(weight, *whole(inputs, "heads")), "the weight")
    return {"weight": reordered, "weight afterwards": weight}


class _File(Mapping[str, torch.Tensor]):
    """The tensors of a file; logs which of them are looked up."""

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
    calls="most tensors looked up in one call; * afterwards",
)
def published_tensor(function: Callable[..., Any], inputs: Inputs) -> Seen:
    """Report each parameter's tensor, how many were looked up, the file afterwards."""
    stored = under(inputs, "published.")
    originals = {name: value.clone() for name, value in stored.items()}
    heads = whole(inputs, "num_heads", "num_kv_heads")
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


@module_probe("since_2017/swiglu", results="output; output of one row alone")
def swiglu(module_class: Callable[..., Any], inputs: Inputs) -> Seen:
    """Report parameters, the output in both modes and of one row, and gradients."""
    module = module_class(inputs["x"].size(-1), *whole(inputs, "d_ff"))
    return beginning(module, inputs) | module_answers(
        load_weights(module, inputs), inputs
    )


@probe(
    "since_2017/grouped_attention",
    results="output; output of one row alone; * heads in * groups",
    calls="* afterwards",
    learning="gradient of *",
    parts={"weights": "weights"},
)
def grouped_attention(function: Callable[..., Any], inputs: Inputs) -> Seen:
    """Report weights, output, one row, inputs afterwards, gradients; or an error."""
    q, k, v = (inputs[name] for name in "qkv")
    mask = [inputs["mask"]] if "mask" in inputs else []
    if "refused" in inputs:
        return {inputs["refused"]: _refusal(function, q, k, v)}
    output, weights = _pair(function(q, k, v, *mask))
    row_mask = [m[1:2] if m.dim() == 4 and m.size(0) > 1 else m for m in mask]
    alone, _ = _pair(function(q[1:2], k[1:2], v[1:2], *row_mask))

    def call(*tensors: torch.Tensor) -> torch.Tensor:
        return _pair(function(*tensors, *mask))[0]

    observations = {
        "weights": weights,
        "output": output,
        "output of one row alone": alone,
    }
    observations |= {f"{name} afterwards": inputs[name] for name in "qkv"}
    return observations | gradients(call, [q, k, v], list("qkv"), inputs)


def _pair(result: object) -> tuple[torch.Tensor, torch.Tensor]:
    output, weights = returned(result, "output", "weights")
    return tensor(output, "the output"), tensor(weights, "the weights")


def _refusal(function: Callable[..., Any], *tensors: torch.Tensor) -> str:
    """How a call with impossible sizes ends."""
    try:
        result = function(*tensors)
    except NotImplementedError:
        raise
    except Exception as error:
        return type(error).__name__
    return f"no error, but {describe(result)}"
