"""Probes of unit 03, multi-head attention."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import nn

from autograder.student.exercise import WrongAnswer
from autograder.student.probes import (
    Inputs,
    Seen,
    describe,
    gradients,
    load_weights,
    outcome,
    probe,
    returned,
    tensor,
)


@probe("multi_head_attention/list_of_heads")
def list_of_heads(module_class: Any, inputs: Inputs) -> Seen:
    """Parameters, both results, who sees whom, the input afterwards, a gradient."""
    d_k, d_model = inputs["weights.heads.0.w_q.weight"].shape
    d_v = len(inputs["weights.heads.0.w_v.bias"])
    d_out, width = inputs["weights.w_o.weight"].shape
    made = module_class(d_model, width // d_v, d_k, d_v, d_out)
    return _observe(load_weights(made, inputs), ["x"], inputs)


@probe("multi_head_attention/split_heads")
def split_heads(function: Any, inputs: Inputs) -> Seen:
    """The heads, the input afterwards, and a gradient if one is asked for."""
    x, num_heads = inputs["x"], int(inputs["num_heads"])
    return _observe_function(lambda x: function(x, num_heads), x, "the heads", inputs)


@probe("multi_head_attention/merge_heads")
def merge_heads(function: Any, inputs: Inputs) -> Seen:
    """The features, the input afterwards, and a gradient if one is asked for."""
    return _observe_function(function, inputs["x"], "the features", inputs)


def _observe_function(
    function: Callable[..., Any], x: torch.Tensor, name: str, inputs: Inputs
) -> Seen:
    def call(x: torch.Tensor) -> torch.Tensor:
        return tensor(function(x), name)

    seen = {name: call(x), "x afterwards": x}
    return seen | gradients(call, [x], ["x"], inputs)


@probe("multi_head_attention/pack_heads")
def pack_heads(function: Any, inputs: Inputs) -> Seen:
    """The six packed tensors, and what the heads look like afterwards."""
    count = int(inputs["num_heads"])
    heads = [_projections(inputs, f"weights.heads.{i}.", "qkv") for i in range(count)]
    packed = function(heads)
    seen = _named_tensors(packed, [f"w_{n}.{kind}" for n in "qkv" for kind in KINDS])
    return seen | {"first head afterwards": heads[0].w_q.weight}


KINDS = ("weight", "bias")


def _projections(inputs: Inputs, prefix: str, letters: str) -> Any:
    """A stand-in module whose linear layers ``w_<letter>`` hold the given weights."""
    module = nn.Module()
    for letter in letters:
        weight, bias = (inputs[f"{prefix}w_{letter}.{kind}"] for kind in KINDS)
        layer = nn.Linear(weight.size(1), weight.size(0))
        layer.weight.data, layer.bias.data = weight, bias
        setattr(module, f"w_{letter}", layer)
    return module


def _named_tensors(found: object, names: Sequence[str]) -> Seen:
    """The tensors of a dict; the extra names in it, too, since there should be none."""
    if not isinstance(found, Mapping):
        raise WrongAnswer(f"expected a dict of tensors, got {describe(found)}")
    extra = sorted(set(map(str, found)) - set(names))
    seen = {name: tensor(found[name], f"`{name}`") for name in names if name in found}
    return seen | {"other names": ", ".join(extra) or "none"}


@probe("multi_head_attention/mask_for_heads")
def mask_for_heads(function: Any, inputs: Inputs) -> Seen:
    """For masks of every rank: the dimensions of the answer, and who may attend."""
    shape = tuple(inputs["shape"].tolist())
    seen: Seen = {"without a mask": _none_or_tensor(function(None))}
    for name in ("2-D", "3-D", "4-D"):
        if name not in inputs:
            continue
        mask = tensor(function(inputs[name]), "the mask")
        seen[f"dimensions of the {name} mask's answer"] = torch.tensor(mask.dim())
        seen[f"{name} mask, broadcast to the scores"] = _broadcast(mask, shape)
        seen[f"{name} mask afterwards"] = inputs[name]
    return seen


def _none_or_tensor(result: object) -> str:
    return "None" if result is None else describe(result)


def _broadcast(mask: torch.Tensor, shape: tuple[int, ...]) -> torch.Tensor:
    try:
        return mask.broadcast_to(shape)
    except RuntimeError:
        raise WrongAnswer(
            f"expected a mask that broadcasts to the scores {shape}, "
            f"got one of shape {tuple(mask.shape)}"
        ) from None


@probe("multi_head_attention/multi_head_attention")
def multi_head_attention(module_class: Any, inputs: Inputs) -> Seen:
    """Parameters, results, who sees whom, inputs afterwards, gradients; or dropout."""
    if "refuse" in inputs:
        return {
            f"{count} heads of {size} features": _refused(module_class, size, count)
            for size, count in inputs["refuse"].tolist()
        }
    d_model, num_heads = len(inputs["weights.w_q.bias"]), int(inputs["num_heads"])
    if "rate" in inputs:
        rate = float(inputs["rate"])
        made = module_class(d_model, num_heads, rate)
        return _dropout(load_weights(made, inputs), rate, num_heads, inputs)
    module = load_weights(module_class(d_model, num_heads), inputs)
    return _observe(module, ["query", "key", "value"], inputs)


def _refused(module_class: Any, size: int, count: int) -> str:
    return outcome(lambda: module_class(size, count), ValueError)


def _dropout(module: nn.Module, rate: float, num_heads: int, inputs: Inputs) -> Seen:
    """What training does to the attention weights.

    The inputs are such that each head's output holds its weights, twice: dropping a
    weight takes both copies, dropping an output takes one of them. Which weights are
    dropped is chance and not reported, only what is true of every choice.
    """

    def run() -> torch.Tensor:  # (B, Lq, h, 2, Lk)
        sequences = [inputs[name] for name in ("query", "key", "value")]
        found = tensor(returned(module(*sequences), "output", "weights")[0], "output")
        split: torch.Tensor = found.unflatten(-1, (num_heads, 2, -1))
        return split

    with torch.no_grad():
        calm, calm_again = run(), run()
        module.train()
        wild, wild_again = run(), run()
    factors = wild / calm
    kept = 1 / (1 - rate)
    between = ((factors.abs() > 1e-3) & ((factors - kept).abs() > 1e-3)).sum()
    first, second = factors.round(decimals=3).unbind(3)  # (B, Lq, h, Lk) each
    return {
        "output in eval mode": calm.flatten(2),
        "eval mode gives the same twice": _same(calm, calm_again),
        "smallest factor on a weight in training": factors.min(),
        "largest factor on a weight in training": factors.max(),
        "weights with another factor than these": between,
        "a weight is dropped for all features": _same(first, second),
        "dropped alike in all heads": _same(first, first[:, :, :1]),
        "dropped alike for all queries": _same(first, first[:, :1]),
        "dropped alike for all keys": _same(first, first[..., :1]),
        "dropped alike in all sentences": _same(first, first[:1]),
        "training gives the same twice": _same(wild, wild_again),
    }


def _same(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return (a == b).all()


def _observe(module: nn.Module, names: Sequence[str], inputs: Inputs) -> Seen:
    """What a module makes of its sequences; the keys are in the last of them."""
    sequences, mask = [inputs[name] for name in names], inputs.get("mask")

    def call(*sequences: torch.Tensor) -> Seen:
        output, weights = returned(module(*sequences, mask), "output", "weights")
        return {
            "output": tensor(output, "output"),
            "weights": tensor(weights, "the weights"),
        }

    seen: Seen = {"parameters": _parameters(module)}
    results = call(*sequences)
    if mask is not None:
        # Before the output: of the wrong answers, the panel draws the first.
        seen["who sees whom"] = _who_sees_whom(
            lambda *sequences: call(*sequences)["output"], sequences
        )
        seen["mask afterwards"] = mask
    seen |= results | {"output, second call": call(*sequences)["output"]}
    seen |= {f"{name} afterwards": inputs[name] for name in names}
    return seen | gradients(lambda *s: call(*s)["output"], sequences, names, inputs)


def _parameters(module: nn.Module) -> str:
    shapes = {name: tuple(p.shape) for name, p in module.named_parameters()}
    return ", ".join(f"{name} {shapes[name]}" for name in sorted(shapes))


def _who_sees_whom(
    function: Callable[..., Any], sequences: Sequence[Any]
) -> torch.Tensor:
    """(B, Lq, Lk): does output i move when key and value at position j change?"""
    queries = max(len(sequences) - 2, 0)
    with torch.no_grad():
        before, columns = function(*sequences), []
        for j in range(sequences[-1].size(1)):
            changed = [sequence.clone() for sequence in sequences]
            for sequence in changed[queries:]:
                sequence[:, j] += 1
            moved = function(*changed) - before
            columns.append((moved.abs() > 1e-6).flatten(2).any(-1))
    return torch.stack(columns, dim=-1)


@probe("multi_head_attention/parameter_count")
def parameter_count(function: Any, inputs: Inputs) -> Seen:
    """The counts for several sizes."""
    bias = bool(inputs["bias"])
    return {
        f"d_model = {size}, {count} heads": _number(function(size, count, bias))
        for size, count in inputs["sizes"].tolist()
    }


def _number(result: object) -> torch.Tensor:
    if isinstance(result, bool) or not isinstance(result, int | float | torch.Tensor):
        raise WrongAnswer(f"expected a whole number, got {describe(result)}")
    return torch.as_tensor(result)


@probe("multi_head_attention/to_pytorch")
def to_pytorch(function: Any, inputs: Inputs) -> Seen:
    """What the new layer is and computes, and whether it is a copy."""
    mine = _projections(inputs, "weights.", "qkvo")
    mine.num_heads = int(inputs["num_heads"])
    mine.dropout = nn.Dropout(0.25)
    theirs = function(mine)
    if not isinstance(theirs, nn.MultiheadAttention):
        raise WrongAnswer(f"expected an nn.MultiheadAttention, got {describe(theirs)}")
    theirs.eval()
    sequences = [inputs[name] for name in ("query", "key", "value")]
    seen = {
        "num_heads": torch.tensor(theirs.num_heads),
        "dropout": torch.tensor(float(theirs.dropout)),
        "yours is in training mode afterwards": torch.tensor(mine.training),
        "parameters of theirs that train": torch.tensor(
            sum(p.requires_grad for p in theirs.parameters())
        ),
    }
    with torch.no_grad():
        output, weights = theirs(*sequences, average_attn_weights=False)
        for parameter in theirs.parameters():
            parameter.add_(1)
    seen |= {"output": output, "weights": weights}
    return seen | {
        f"{name} of yours after theirs has changed": parameter
        for name, parameter in mine.named_parameters()
    }


@probe("multi_head_attention/from_pytorch")
def from_pytorch(function: Any, inputs: Inputs) -> Seen:
    """The eight tensors, and the layer that they come from afterwards."""
    d_model = len(inputs["out_proj.bias"])
    theirs = nn.MultiheadAttention(d_model, int(inputs["num_heads"]), batch_first=True)
    own = dict(theirs.named_parameters())
    for name, parameter in own.items():
        parameter.data = inputs[name]
    names = [f"w_{letter}.{kind}" for letter in "qkvo" for kind in KINDS]
    seen = _named_tensors(function(theirs), names)
    return seen | {f"{name} afterwards": p for name, p in own.items()}


@probe("multi_head_attention/pytorch_mask")
def pytorch_mask(function: Any, inputs: Inputs) -> Seen:
    """The mask, what PyTorch's layer does with it, and the given mask afterwards."""
    size = tuple(inputs["size"].tolist())
    found = tensor(function(inputs["mask"], size), "the mask")
    return {
        "mask": found,
        "weights of nn.MultiheadAttention": _masked_weights(found, size, inputs),
        "mask afterwards": inputs["mask"],
    }


def _masked_weights(
    mask: torch.Tensor, size: tuple[int, ...], inputs: Inputs
) -> torch.Tensor:
    """(B, h, Lq, Lk): each head of PyTorch's layer sees features of its own."""
    query, key = inputs["query"], inputs["key"]
    layer = nn.MultiheadAttention(query.size(-1), size[1], batch_first=True).eval()
    with torch.no_grad():
        layer.in_proj_weight.copy_(torch.eye(query.size(-1)).repeat(3, 1))
        layer.in_proj_bias.zero_()
        try:
            seen: torch.Tensor = layer(
                query, key, key, attn_mask=mask, average_attn_weights=False
            )[1]
            return seen
        except (RuntimeError, AssertionError) as error:
            raise WrongAnswer(
                f"nn.MultiheadAttention refuses your mask of shape {tuple(mask.shape)} "
                f"and type {mask.dtype}: {str(error).splitlines()[0]}"
            ) from None
