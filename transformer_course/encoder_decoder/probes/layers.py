"""The feed-forward network, a sublayer with its norm, layers, stacks and their cost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Any

import torch
import torch.nn.functional as F
from torch import nn

from autograder.checks.exercise import WrongAnswerError
from autograder.checks.probes import (
    Inputs,
    Seen,
    describe,
    gradients,
    kind,
    probe,
    returned,
    tensor,
)
from autograder.checks.probes.weights import BEGINNING, beginning, load_weights
from transformer_course.encoder_decoder.probes.observing import (
    DROPPED,
    chances,
    observe,
)


@probe(
    "encoder_decoder/feed_forward",
    results="output; output moves with x; output in training*; "
    "outputs of one row in training",
    calls="* afterwards",
    learning=f"{BEGINNING}; other parameters; gradient of *",
)
def feed_forward(module_class: Any, inputs: Inputs) -> Seen:
    """Report parameters, output, who moves whom, inputs, gradients; or dropout.

    For dropout, one row is passed many times in training mode: report the mean of the
    outputs, whether only a few of them differ (each hidden number is dropped or kept),
    and the size of the input, which has no batch.
    """
    d_ff, d_model = inputs["weights.linear1.weight"].shape
    options = {"dropout": float(inputs["rate"])} if "rate" in inputs else {}
    if "activation" in inputs:
        options["activation"] = inputs["activation"]
    module = module_class(d_model, d_ff, **options)
    if "often" in inputs:
        rows = inputs["x"].expand(int(inputs["often"]), -1)
        with torch.no_grad():
            outputs = load_weights(module, inputs).train()(rows)
        outputs = tensor(outputs, "the output")
        leaf = inputs["x"].clone().requires_grad_()
        module(leaf).sum().backward()  # as training does
        has_few = len(outputs[:, 0].unique()) < _FEW
        return {
            "output in training, on average": outputs.mean(0),
            "outputs of one row in training": "a few" if has_few else "no two alike",
            "size of x afterwards": torch.tensor(rows.shape),
        }
    observations = beginning(module, inputs)
    return observations | observe(load_weights(module, inputs), ["x"], [], inputs)


_FEW = 1000  # of some hidden numbers, each is dropped or kept: 2 ** d_ff outputs


@probe(
    "encoder_decoder/add_and_norm",
    results="output; calls",
    calls="* afterwards",
    learning="gradient of x",
    mode="output in eval mode; calls, also in eval mode",
)
def add_and_norm(function: Any, inputs: Inputs) -> Seen:
    """Report the output and how often each part was called, also without gradients.

    Report also x afterwards, and its gradient.
    """
    x, norm_first = inputs["x"], bool(inputs["norm_first"])
    parts: dict[str, nn.Module] = {
        "sublayer": _Sublayer(inputs["table"]),
        "norm": load_weights(nn.LayerNorm(x.size(-1)), inputs),
        "dropout": _Shrink(),
    }
    if "parts" in inputs:  # each hands on the very tensor that it was given
        parts = {name: nn.Identity() for name in parts}
    calls = Counter(dict.fromkeys(parts, 0))
    for name, part in parts.items():
        part.register_forward_hook(lambda *_, name=name: calls.update([name]))

    def call(x: torch.Tensor) -> torch.Tensor:
        output = function(x, *parts.values(), norm_first)
        return tensor(output, "the result")

    def so_far() -> str:
        return ", ".join(f"{name} {n}" for name, n in calls.items())

    in_eval = x.clone()
    observations: Seen = {"output": call(x), "calls": so_far()}
    for part in parts.values():
        part.eval()
    with torch.no_grad():
        observations["output in eval mode"] = call(in_eval)
    observations["calls, also in eval mode"] = so_far()
    for part in parts.values():
        part.train()  # in which a gradient is needed
    observations |= {"x afterwards": x, "x in eval mode afterwards": in_eval}
    return observations | gradients(call, [x], ["x"], inputs)


class _Sublayer(nn.Module):
    """A sublayer that mixes positions, and is not linear."""

    def __init__(self, table: torch.Tensor):
        super().__init__()
        self.table = table  # (L, L)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.tanh(self.table @ x)


class _Shrink(nn.Module):
    """Stands in for dropout: without chance, so that its place can be seen."""

    p = 0.0  # says that it drops nothing; it is to be called all the same

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return 0.25 * x + 0.5


_of_a_layer = partial(
    probe,
    results=f"output; output moves with *; output in training; {DROPPED}",
    calls="* afterwards",
    learning=f"{BEGINNING}; other parameters; gradient of *",
)


@_of_a_layer("encoder_decoder/encoder_layer")
@_of_a_layer("encoder_decoder/decoder_layer")
def layer(module_class: Any, inputs: Inputs) -> Seen:
    """Report parameters, output, who moves whom, inputs, gradients; or dropout."""
    names, masks = _arguments(inputs)
    module = module_class(*_sizes(inputs))
    if "chance" in inputs:  # one branch per sequence, one for the feed-forward network
        return chances(load_weights(module, inputs), names, len(names) + 1, inputs)
    observations = beginning(module, inputs)
    return observations | observe(load_weights(module, inputs), names, masks, inputs)


def _arguments(inputs: Inputs) -> tuple[list[str], list[str]]:
    """The names of a layer's sequences and masks; a decoder layer has a memory."""
    if "memory" in inputs:
        return ["x", "memory"], ["tgt_mask", "memory_mask"]
    return ["x"], ["mask"]


def _sizes(inputs: Inputs) -> tuple[Any, ...]:
    """The arguments that make a layer, in order: sizes and, if given, its options."""
    d_ff, d_model = inputs["weights.feed_forward.linear1.weight"].shape
    sizes = (d_model, int(inputs["num_heads"]), d_ff)
    if "norm_first" not in inputs:
        return sizes
    rate = float(inputs.get("rate", 0.0))
    return (*sizes, rate, bool(inputs["norm_first"]), inputs["activation"])


@probe(
    "encoder_decoder/layer_cost",
    results="FLOPs of *; entries of *",
    calls="kind of the counts",
)
def layer_cost(function: Any, inputs: Inputs) -> Seen:
    """Report the four counts of some layers, and what kind of numbers they are."""
    names = (
        "FLOPs of multi-head attention", "FLOPs of the feed-forward network",
        "entries of the weights", "entries of the hidden vectors",
    )  # fmt: skip
    counted = [returned(function(*sizes), *names) for sizes in inputs["sizes"].tolist()]
    kinds = sorted({kind(count, int) for counts in counted for count in counts})
    observations: Seen = {
        name: torch.tensor(list(map(_number, counts)))
        for name, counts in zip(names, zip(*counted, strict=True), strict=True)
    }
    return observations | {"kind of the counts": ", ".join(kinds)}


def _number(count: object) -> int | float:
    if isinstance(count, bool) or not isinstance(count, int | float | torch.Tensor):
        raise WrongAnswerError(f"expected an integer, got {describe(count)}")
    return count.item() if isinstance(count, torch.Tensor) else count


@probe(
    "encoder_decoder/stack",
    results="layers made; `norm` is the very norm that was given; output; "
    "output moves with *",
    calls="hooks left out; * afterwards",
    learning="other parameters; gradient of *",
)
def stack(module_class: Callable[..., Any], inputs: Inputs) -> Seen:
    """Report what a stack of our own layers does; decoder layers if there is a memory.

    There are as many layers as there are weights. One stack is judged while another
    one, made alike, exists beside it.
    """
    d_model, layers = inputs["x"].size(-1), []
    names, masks = _arguments(inputs)
    make = _DecoderStandIn if "memory" in inputs else _EncoderStandIn

    def make_layer() -> nn.Module:
        layers.append(make(d_model))
        return layers[-1]

    depth = sum(name.endswith("matrix") for name in inputs)
    norm = _Norm(d_model) if "weights.norm.bias" in inputs else None
    module = module_class(make_layer, depth, *([norm] if norm else []))
    count = len(layers)
    observations: Seen = {"layers made": torch.tensor(count)}
    if norm:
        is_same = getattr(module, "norm", None) is norm
        observations["`norm` is the very norm that was given"] = str(is_same)
    observations |= observe(load_weights(module, inputs), names, masks, inputs)
    unheard = any(layer.unheard for layer in layers)
    return observations | {"hooks left out": "yes" if unheard else "no"}


class _Norm(nn.LayerNorm):
    """A norm that adds a constant, so that a different norm in its place is noticed."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return super().forward(x) + 0.125


class _EncoderStandIn(nn.Module):
    """A layer in which each position listens to those that its mask allows.

    It counts how often it has worked, less how often a hook has heard of it.
    """

    def __init__(self, d_model: int):
        super().__init__()
        self.matrix = nn.Parameter(torch.eye(d_model))
        self.unheard = 0
        self.register_forward_hook(_EncoderStandIn._hear)

    def _hear(self, *_: object) -> None:
        self.unheard -= 1

    def forward(
        self, x: torch.Tensor, mask: torch.Tensor | None = None
    ) -> torch.Tensor:
        self.unheard += 1
        return x + torch.tanh(_listen(x, x, mask) @ self.matrix)


class _DecoderStandIn(_EncoderStandIn):
    """Like `_EncoderStandIn`, but each position listens to the memory, too."""

    def forward(  # type: ignore[override]
        self,
        x: torch.Tensor,
        memory: torch.Tensor,
        tgt_mask: torch.Tensor | None = None,
        memory_mask: torch.Tensor | None = None,
    ) -> torch.Tensor:
        self.unheard += 1
        x = x + torch.tanh(_listen(x, x, tgt_mask) @ self.matrix)
        return x - torch.tanh(_listen(x, memory, memory_mask) @ self.matrix.T)


def _listen(
    x: torch.Tensor, source: torch.Tensor, mask: torch.Tensor | None
) -> torch.Tensor:
    return F.scaled_dot_product_attention(x, source, source, attn_mask=mask)
