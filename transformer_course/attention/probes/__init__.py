"""Probes of unit 02, attention."""

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
    gradients,
    moving,
    probe,
    returned,
    tensor,
)
from autograder.checks.probes.weights import (
    BEGINNING,
    beginning,
    load_weights,
    parameter_shapes,
)


@probe(
    "attention/softmax",
    results="weights; weights of -inf *; logarithms of *; what rows lack to 1, *",
    calls="* afterwards",
    learning="gradient of x",
)
def softmax(function: Any, inputs: Inputs) -> Seen:
    """Report the weights, x afterwards, and the gradient of a weighted sum if asked."""
    x = inputs["x"]
    untouched = x.clone()
    weights = tensor(function(x), "the weights")
    observations = {"weights": weights, "x afterwards": x}
    if weights.shape == x.shape:
        observations |= _in_float64(function, untouched, weights)
    return observations | gradients(function, [x], ["x"], inputs)


def _in_float64(function: Any, x: torch.Tensor, weights: torch.Tensor) -> Seen:
    """Report in float64 what float32 hides: rows with `-inf`, numbers far apart."""
    closed = x == -torch.inf
    if not closed.any() and x.max() - x.min() < _FAR:
        return {}
    exact, low = (
        tensor(function(scores), "the weights")
        for scores in (x.double(), x.double() - 2.0**34)  # below what fills many a hole
    )
    if exact.shape != x.shape or low.shape != x.shape:
        return {}
    if not closed.any():
        logarithms = exact.clamp(min=1e-30).log()
        return {"logarithms of the weights, in float64": logarithms.to(x.dtype)}
    # Where another type comes back, that is told elsewhere, and rounding is no gap.
    lacking = 2**20 * (1 - exact.sum(-1)) * (exact.dtype == torch.float64)
    return {
        "what rows lack to 1, in millionths, in float64": lacking.to(x.dtype),
        "weights of -inf that are not 0": (weights[closed] != 0).sum(),
        "weights of -inf that are not 0, near minus 17 billion": (
            (low[closed] != 0).sum()
        ),
    }


_FAR = 100.0  # between numbers of one tensor, of which `exp` leaves little


@probe(
    "attention/by_hand", results="output", calls="* afterwards",
    parts={"weights": "weights"},
)  # fmt: skip
def by_hand(function: Any, inputs: Inputs) -> Seen:
    """Report both results of one query, and the lists afterwards."""
    arguments = {name: inputs[name].tolist() for name in _GIVEN}
    output, weights = returned(function(*arguments.values()), "output", "weights")
    return {
        "output": _read_numbers(output, "output"),
        "weights": _read_numbers(weights, "weights"),
        **{f"{name} afterwards": torch.tensor(arguments[name]) for name in _GIVEN},
    }


_GIVEN = ("query", "keys", "values", "allowed")


def _read_numbers(numbers: object, what: str) -> torch.Tensor:
    """Read a list or a tensor of numbers as a float32 tensor."""
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
    """Report the result of the function that these inputs are for, and the inputs."""
    padding_mask, causal_mask, combine_masks = functions
    if "ids" in inputs:
        return _padding_mask(padding_mask, inputs)
    if "lengths" in inputs:
        return _causal_masks(causal_mask, inputs)
    return _combined_masks(combine_masks, inputs)


def _padding_mask(function: Any, inputs: Inputs) -> Seen:
    """Report the mask, with the default pad_id if the inputs have none."""
    ids, pad_id = inputs["ids"], inputs.get("pad_id")
    mask = function(ids) if pad_id is None else function(ids, int(pad_id))
    return {"padding mask": tensor(mask, "the mask"), "ids afterwards": ids}


def _causal_masks(function: Any, inputs: Inputs) -> Seen:
    """Report the masks of several lengths; of a long one, its size and open pairs."""
    observations: Seen = {}
    for n in inputs["lengths"].tolist():
        mask = tensor(function(n), "the mask")
        if n < _LONG:
            observations[f"mask of {n}"] = mask
        else:
            observations[f"size of the mask of {n}"] = torch.tensor(mask.shape)
            observations[f"open pairs in the mask of {n}"] = mask.sum()
    return observations


_LONG = 500  # positions, from which on a mask is no longer reported in full


def _combined_masks(function: Any, inputs: Inputs) -> Seen:
    """Report combinations of both masks and None, and both masks afterwards."""
    first, second = inputs["first"], inputs["second"]
    pairs = {
        "both": (first, second),
        "the other order": (second, first),
        "the first and None": (first, None),
        "None and the second": (None, second),
        "None and None": (None, None),
    }
    names = inputs["ask"].split(", ")
    observations = {name: _mask_or_none(function(*pairs[name])) for name in names}
    return observations | {"first afterwards": first, "second afterwards": second}


def _mask_or_none(result: object) -> torch.Tensor | str:
    if result is None or isinstance(result, torch.Tensor):
        return "None" if result is None else result
    raise WrongAnswerError(f"expected a mask or None, got {describe(result)}")


@probe(
    "attention/scaled_dot_product",
    results="output; who sees whom",
    calls="*, second call; * afterwards",
    learning="gradient of *",
    parts={"weights": "weights"},
)
def scaled_dot_product(attention: Any, inputs: Inputs) -> Seen:
    """Report who sees whom, results of two calls, inputs afterwards, and gradients.

    An x is queries, keys and values at once: one tensor, given three times.
    """
    names, mask = ["x"] if "x" in inputs else ["q", "k", "v"], inputs.get("mask")
    tensors = [inputs[name] for name in names] * (3 // len(names))
    observations = _output_and_weights(attention(*tensors, mask))
    if mask is not None:
        # First, since the first wrong answer is the one that is drawn.
        observations = {"who sees whom": observations["weights"] > 1e-6} | observations
    second_results = _output_and_weights(attention(*tensors, mask))
    observations |= {
        f"{name}, second call": value for name, value in second_results.items()
    }
    observations |= {
        f"{n} afterwards": inputs[n] for n in (*names, "mask") if n in inputs
    }
    return observations | gradients(
        lambda *leaves: attention(*leaves, mask)[0], tensors, names, inputs
    )


@probe(
    "attention/cross_attention",
    results="output; who sees whom",
    calls="* afterwards",
    learning=f"{BEGINNING}; parameters; gradient of *",
    parts={"weights": "weights"},
)
def cross_attention(module_class: Any, inputs: Inputs) -> Seen:
    """Report parameters, results, who sees whom, inputs afterwards, and gradients."""
    d_k, d_model = inputs["weights.w_q.weight"].shape
    d_v, d_memory = inputs["weights.w_v.weight"].shape
    module = module_class(d_model, d_memory, d_k, d_v)
    return _observe_module(module, ["x", "memory"], inputs)


def _observe_module(new_module: Any, names: list[str], inputs: Inputs) -> Seen:
    """Observe a new module and its results; the last sequence provides the keys."""
    observations = beginning(new_module, inputs)
    module = load_weights(new_module, inputs)
    sequences, mask = [inputs[name] for name in names], inputs.get("mask")

    def output(*changed: torch.Tensor) -> torch.Tensor:
        return tensor(
            returned(module(*changed, mask), "output", "weights")[0], "output"
        )

    observations["parameters"] = parameter_shapes(module)
    results = _output_and_weights(module(*sequences, mask))
    if results["output"].dim() == 3:
        observations["who sees whom"] = moving.who_sees_whom(output, sequences, 1)
    observations |= results
    observations |= {
        f"{n} afterwards": s for n, s in zip(names, sequences, strict=True)
    }
    return observations | gradients(output, sequences, names, inputs)


def _output_and_weights(result: object) -> Seen:
    output, weights = returned(result, "output", "weights")
    return {
        "output": tensor(output, "output"),
        "weights": tensor(weights, "the weights"),
    }


@probe("attention/who_sees_whom", results="who sees whom", calls="* afterwards")
def who_sees_whom(function: Any, inputs: Inputs) -> Seen:
    """Report the matrix that the student's probe finds, and x afterwards.

    The layer is one that we know. Report also how often it ran while x was changed.
    """
    x, layer, changed = inputs["x"], _layer(inputs), 0
    untouched = x.clone()

    def watched(vectors: torch.Tensor) -> Any:
        nonlocal changed
        changed += not torch.equal(x, untouched)
        return layer(vectors)

    matrix = tensor(function(watched, x), "the matrix")
    return {
        "who sees whom": matrix,
        "x afterwards": x,
        "number of writes to x afterwards": torch.tensor(x._version),
        "runs of the layer beside another x, counted afterwards": torch.tensor(changed),
    }


def _layer(inputs: Inputs) -> Callable[..., Any]:
    """The layer from (L, d) to (L, d_out) that the text ``inputs["layer"]`` names."""
    table = inputs["table"]
    layers = {
        # Feature c of output i is the sum over j of table[c, i, j] * x[j, c - 1], and a
        # bit, so that no output is zero.
        "a mixture of positions": lambda x: (
            torch.einsum("cij,jc->ic", table, x.roll(1, dims=-1)) + 0.125
        ),
        # With one feature more, which comes first and never moves, and far from zero.
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
