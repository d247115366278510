"""Probes of unit 02, which call a student's answers and report what they do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F

from autograder.checks.exercise import WrongAnswerError
from autograder.checks.probes import (
    Inputs,
    Seen,
    describe,
    probe,
    returned,
    tensor,
)
from autograder.checks.probes.default import observe_call


@probe(
    "attention/softmax",
    results="weights; their logarithms; what rows lack to 1, in millionths",
    calls="* afterwards",
    gradients="gradient of x",
)
def softmax(function: Any, inputs: Inputs) -> Seen:
    """Report what the default probe reports, and two values that show small faults.

    They are the weights' logarithms, and how far each row's sum is below 1, in
    millionths. Both come from a second call, with x in float64.
    """
    x = inputs["x"].clone()
    observations = observe_call(function, inputs)
    exact = tensor(function(x.double()), "weights").double()
    return observations | {
        # Masked weights are 0, whose logarithm would be -inf, hence the lower bound.
        "their logarithms": exact.clamp(min=1e-30).log().to(x.dtype),
        "what rows lack to 1, in millionths": (2**20 * (1 - exact.sum(-1))).to(x.dtype),
    }


@probe(
    "attention/by_hand", results="output", calls="* afterwards",
    parts={"weights": "weights"},
)  # fmt: skip
def by_hand(function: Any, inputs: Inputs) -> Seen:
    """Report the output and weights for one query, and the input lists afterwards."""
    arguments = {name: inputs[name].tolist() for name in _LISTS}
    output, weights = returned(function(*arguments.values()), "output", "weights")
    return {
        "output": _read_numbers(output, "output"),
        "weights": _read_numbers(weights, "weights"),
        **{f"{name} afterwards": torch.tensor(arguments[name]) for name in _LISTS},
    }


_LISTS = ("query", "keys", "values", "allowed")


def _read_numbers(numbers: object, what: str) -> torch.Tensor:
    """Convert a list or a tensor of numbers to a float32 tensor.

    Raises WrongAnswerError for anything else; the message calls it ``what``.
    """
    if isinstance(numbers, list | tuple):
        try:
            numbers = torch.tensor(numbers)
        except (TypeError, ValueError, RuntimeError):
            raise WrongAnswerError(
                f"expected the {what} as a list of numbers, got {describe(numbers)}"
            ) from None
    return tensor(numbers, f"the {what}").float()


@probe(
    "attention/masks",
    results="",
    calls="* afterwards",
    parts={
        "padding mask": "padding mask",
        "causal mask": "*mask of *",
        "combined masks": "both; the other order; None and the second; * and None",
    },
)
def masks(functions: Any, inputs: Inputs) -> Seen:
    """Report the masks that one of the student's three functions returns.

    If ``inputs`` has "ids", it is that for padding masks; if it has "lengths", that
    for causal masks; and otherwise the one that combines masks.
    """
    padding_mask, causal_mask, combine_masks = functions
    if "ids" in inputs:
        return _observe_padding_mask(padding_mask, inputs)
    if "lengths" in inputs:
        return _observe_causal_masks(causal_mask, inputs)
    return _observe_combined_masks(combine_masks, inputs)


def _observe_padding_mask(function: Any, inputs: Inputs) -> Seen:
    """Report the mask, with the default pad_id if the inputs have none."""
    ids, pad_id = inputs["ids"], inputs.get("pad_id")
    mask = function(ids) if pad_id is None else function(ids, int(pad_id))
    return {"padding mask": tensor(mask, "the mask"), "ids afterwards": ids}


def _observe_causal_masks(function: Any, inputs: Inputs) -> Seen:
    """Report causal masks; of long ones, only the shape and number of open pairs."""
    observations: Seen = {}
    for n in inputs["lengths"].tolist():
        mask = tensor(function(n), "the mask")
        if n < _LONG:
            observations[f"mask of {n}"] = mask
        else:
            observations[f"size of the mask of {n}"] = torch.tensor(mask.shape)
            observations[f"open pairs in the mask of {n}"] = mask.sum()
    return observations


_LONG = 500  # positions; masks of this length or longer are not reported in full


def _observe_combined_masks(function: Any, inputs: Inputs) -> Seen:
    """Report the results for the pairs of masks that ``inputs["ask"]`` names.

    Also report both masks afterwards.
    """
    first, second = inputs["first"], inputs["second"]
    pairs = {
        "both": (first, second),
        "the other order": (second, first),
        "the first and None": (first, None),
        "None and the second": (None, second),
        "None and None": (None, None),
    }
    names = inputs["ask"].split(", ")
    observations = {name: _read_mask(function(*pairs[name])) for name in names}
    return observations | {"first afterwards": first, "second afterwards": second}


def _read_mask(result: object) -> torch.Tensor | str:
    """Return a result that is a mask or None (as text), else raise WrongAnswerError."""
    if result is None or isinstance(result, torch.Tensor):
        return "None" if result is None else result
    raise WrongAnswerError(f"expected a mask or None, got {describe(result)}")


@probe("attention/who_sees_whom", results="who sees whom", calls="* afterwards")
def who_sees_whom(function: Any, inputs: Inputs) -> Seen:
    """Report the matrix that the student's function finds, and x afterwards.

    Two counts show whether the function modified x itself instead of a copy.
    """
    x, layer, changed = inputs["x"], _make_layer(inputs), 0
    untouched = x.clone()

    def watch_layer(vectors: torch.Tensor) -> Any:
        nonlocal changed
        changed += not torch.equal(x, untouched)
        return layer(vectors)

    matrix = tensor(function(watch_layer, x), "the matrix")
    return {
        "who sees whom": matrix,
        "x afterwards": x,
        # PyTorch counts in-place changes, even those that have been undone.
        "number of writes to x afterwards": torch.tensor(x._version),
        "runs of the layer beside another x, counted afterwards": torch.tensor(changed),
    }


def _make_layer(inputs: Inputs) -> Callable[..., Any]:
    """Return the layer named ``inputs["layer"]``, which maps (L, d) to (L, d_out).

    Some foil faulty solutions: "stairs" has a gradient of zero, and a norm hides a
    change that is the same in all features.
    """
    table = inputs["table"]
    layers = {
        # Feature c of output i is the sum over j of table[c, i, j] * x[j, c - 1], plus
        # a constant so that no output is zero.
        "a mixture of positions": lambda x: (
            torch.einsum("cij,jc->ic", table, x.roll(1, dims=-1)) + 0.125
        ),
        # An additional first feature is constant, and the others are far from zero.
        "a wider mixture": lambda x: F.pad(
            torch.einsum("cij,jc->ic", table, x) + 1000.0, (1, 0)
        ),
        "masked attention": lambda x: F.scaled_dot_product_attention(
            x, x, x, attn_mask=table
        ),
        "a mixture behind a norm": lambda x: torch.einsum(
            "cij,jc->ic", table, F.layer_norm(x, x.shape[-1:])
        ),
        "stairs": lambda x: torch.einsum("cij,jc->ic", table, (16 * x).floor()),
    }
    return layers[inputs["layer"]]
