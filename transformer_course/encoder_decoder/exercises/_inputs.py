"""Inputs that several exercises of the unit share."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import torch

from autograder.authoring.draw import Draw
from autograder.authoring.inputs import causal_mask, open_mask, sizes_of
from autograder.authoring.specification import Inputs, Maker

Shapes = dict[str, tuple[int, ...]]


def linear_shapes(name: str, rows: int, columns: int) -> Shapes:
    return {f"{name}.weight": (rows, columns), f"{name}.bias": (rows,)}


def norm_shapes(name: str, size: int) -> Shapes:
    return {f"{name}.weight": (size,), f"{name}.bias": (size,)}


def attention_shapes(name: str, size: int) -> Shapes:
    shapes: Shapes = {}
    for letter in "qkvo":
        shapes |= linear_shapes(f"{name}.w_{letter}", size, size)
    return shapes


def feed_forward_shapes(name: str, size: int, hidden: int) -> Shapes:
    return linear_shapes(f"{name}linear1", hidden, size) | linear_shapes(
        f"{name}linear2", size, hidden
    )


def layer_shapes(
    prefix: str, attentions: Sequence[str], size: int, hidden: int
) -> Shapes:
    shapes: Shapes = {}
    for name in attentions:
        shapes |= attention_shapes(f"{prefix}{name}", size)
    shapes |= feed_forward_shapes(f"{prefix}feed_forward.", size, hidden)
    for number in range(1, len(attentions) + 2):
        shapes |= norm_shapes(f"{prefix}norm{number}", size)
    return shapes


ENCODER, DECODER = ("attention",), ("self_attention", "cross_attention")


def stack_shapes(
    prefix: str, kind: Sequence[str], depth: int, size: int, hidden: int, norm: bool
) -> Shapes:
    shapes: Shapes = {}
    for index in range(depth):
        shapes |= layer_shapes(f"{prefix}layers.{index}.", kind, size, hidden)
    return shapes | (norm_shapes(f"{prefix}norm", size) if norm else {})


def small_weights(draw: Draw, shapes: Shapes) -> Inputs:
    """Small weights, so that no softmax saturates and hides a change.

    No weight of a norm is near zero, or its feature would have no effect.
    """
    weights: Inputs = draw.weights(**shapes)
    for name, weight in weights.items():
        if "norm" in name:
            weights[name] = weight + torch.where(weight >= 0, 0.75, -0.75)
        else:
            weights[name] = weight / 2
    return weights


def keep_mask(draw: Draw, batch: int, length: int) -> torch.Tensor:
    """(B, L): each sentence keeps its first positions, a different number in each."""
    lengths = length - (torch.arange(batch) + int(draw.ids(0, batch))) % batch
    return torch.arange(length) < lengths.clamp(min=1)[:, None]


def mask_of_kind(
    draw: Draw, kind: str, batch: int, lq: int, lk: int, heads: int = 1
) -> torch.Tensor:
    """A mask of a named kind, or a random one of a shape like ``"B 1 Lq Lk"``."""
    if kind.endswith("Lk"):
        return open_mask(draw, *sizes_of(kind, B=batch, h=heads, Lq=lq, Lk=lk))
    keep = keep_mask(draw, batch, lk)
    masks: dict[str, Callable[[], torch.Tensor]] = {
        "causal": lambda: causal_mask(lq),
        "padding": lambda: keep[:, None],
        "padding, 4-D": lambda: keep[:, None, None],
        "both": lambda: keep[:, None] & causal_mask(lq),
    }
    return masks[kind]()


MASKS_OF_A_STACK = ("1 Lk", "Lq Lk", "1 1 Lk", "1 Lq Lk", "B 1 Lk", "B Lq Lk")
MASKS_OF_A_LAYER = (
    *MASKS_OF_A_STACK,
    *("1 1 Lq Lk", "1 h 1 Lk", "1 h Lq Lk", "B 1 1 Lk", "B h 1 Lk", "B h Lq Lk"),
)

# A dropout rate at which nothing is left, but 1 - rate may still be divided by.
EVERYTHING = 1 - 2**-40


def rate_of(rate: float | None) -> Inputs:
    """A dropout rate as an input, if one is given."""
    return {} if rate is None else {"rate": torch.tensor(rate, dtype=torch.float64)}


def layer_inputs(
    kind: Sequence[str],
    batch: int,
    lt: int,
    d_model: int,
    heads: int,
    d_ff: int,
    ls: int = 0,
    norm_first: bool | None = None,
    activation: str = "relu",
    rate: float | None = None,
    masks: dict[str, str] | None = None,
    pull: bool = False,
) -> Maker:
    def make_inputs(draw: Draw) -> Inputs:
        inputs: Inputs = {"x": draw.tensor(batch, lt, d_model)}
        inputs |= {"memory": draw.tensor(batch, ls, d_model)} if ls else {}
        inputs |= small_weights(draw, layer_shapes("", kind, d_model, d_ff))
        inputs["num_heads"] = torch.tensor(heads)
        if norm_first is not None:
            inputs |= {"norm_first": torch.tensor(norm_first), "activation": activation}
        inputs |= rate_of(rate)
        for name, mask_kind in (masks or {}).items():
            keys = ls if name == "memory_mask" else lt
            inputs[name] = mask_of_kind(draw, mask_kind, batch, lt, keys, heads)
        return inputs | ({"pull": draw.tensor(batch, lt, d_model)} if pull else {})

    return make_inputs


def biases_only(make_inputs: Maker) -> Maker:
    """Zero all but the last biases, so that each branch adds to features of its own."""

    def make_biases(draw: Draw) -> Inputs:
        inputs = make_inputs(draw) | {"chance": "what the branches add"}
        last_biases = [n for n in inputs if n.endswith(("w_o.bias", "linear2.bias"))]
        for i, name in enumerate(last_biases):
            own_features = torch.arange(len(inputs[name])) % len(last_biases) == i
            bias = inputs[name] + torch.where(inputs[name] >= 0, 0.75, -0.75)
            inputs[name] = torch.where(own_features, bias, 0.0)
            weight = name.replace("bias", "weight")
            inputs[weight] = torch.zeros_like(inputs[weight])
        return inputs

    return make_biases


def stack_inputs(
    depth: int,
    batch: int,
    lt: int,
    size: int,
    ls: int = 0,
    norm: bool = False,
    masks: dict[str, str] | None = None,
    pull: bool = False,
) -> Maker:
    def make_inputs(draw: Draw) -> Inputs:
        inputs: Inputs = {"x": draw.tensor(batch, lt, size, scale=1.0)}
        inputs |= {"memory": draw.tensor(batch, ls, size, scale=1.0)} if ls else {}
        shapes: Shapes = {f"layers.{i}.matrix": (size, size) for i in range(depth)}
        inputs |= draw.weights(**shapes | (norm_shapes("norm", size) if norm else {}))
        for name, mask_kind in (masks or {}).items():
            keys = ls if name == "memory_mask" else lt
            inputs[name] = mask_of_kind(draw, mask_kind, batch, lt, keys)
        return inputs | ({"pull": draw.tensor(batch, lt, size)} if pull else {})

    return make_inputs


def token_ids(
    draw: Draw, batch: int, length: int, vocab: int, pad_id: int, padded: bool = True
) -> torch.Tensor:
    """Ids of sentences; if ``padded``, with padding of different lengths at the end."""
    real = (pad_id + draw.ids(1, vocab, batch, length)) % vocab  # anything but pad_id
    return torch.where(keep_mask(draw, batch, length), real, pad_id) if padded else real


def scattered_ids(
    draw: Draw, batch: int, length: int, vocab: int, pad_id: int, first: bool
) -> torch.Tensor:
    """Ids with padding at any position; if ``first``, at any but the first."""
    real = (pad_id + draw.ids(1, vocab, batch, length)) % vocab
    # Every third position, from a random one on, so that no mask is known beforehand.
    keep = (draw.ids(0, 3, batch, 1) + torch.arange(length)) % 3 != 0  # (B, L)
    keep[:, 0] |= first
    return torch.where(keep, real, pad_id)


def as_options(options: Mapping[str, int | str]) -> Inputs:
    return {
        f"option.{name}": value if isinstance(value, str) else torch.tensor(value)
        for name, value in options.items()
    }
