"""Probes of unit 01, positional encoding."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from autograder.student.exercise import Answers, WrongAnswer
from autograder.student.otherside import Ask, Mixture
from autograder.student.probes import (
    Inputs,
    Seen,
    describe,
    load_weights,
    probe,
    tensor,
)

DROPOUT = 0.25  # the share that the input layer is asked to drop


@probe("positional_encoding/embed")
def embed(function: Any, inputs: Inputs) -> Seen:
    """The vectors, which rows of the table they pull on, and the table afterwards."""
    table = inputs["table"].requires_grad_()
    padding_idx = int(inputs["padding_idx"]) if "padding_idx" in inputs else None
    vectors = tensor(function(inputs["ids"], table, padding_idx), "the vectors")
    return {
        "vectors": vectors,
        **_gradient("table", vectors, table, inputs["pull"]),
        "table afterwards": table,
        "ids afterwards": inputs["ids"],
    }


@probe("positional_encoding/shuffle_gap")
def shuffle_gap(function: Any, inputs: Inputs) -> Seen:
    """The gaps of the mixers that are named in ``inputs``, and x afterwards."""
    x, order = inputs["x"], inputs["order"]
    gaps = {
        f"gap of {name}": _number(function(MIXERS[name], x, order), "the gap")
        for name in inputs["mixers"].split(", ")
    }
    return {**gaps, "x afterwards": x}


Mixer = Callable[[torch.Tensor], torch.Tensor]
MIXERS: dict[str, Mixer] = {
    "the average": lambda x: x.mean(1, keepdim=True).expand_as(x),
    "the running sum": lambda x: x.cumsum(1),
    "a mix by similarity": lambda x: (x @ x.mT / 4).softmax(-1) @ x,
    "the last vector": lambda x: x[:, -1:].expand_as(x),
    "each vector by itself": lambda x: x.square() - x,
    "the step from the neighbour": lambda x: x - x.roll(1, dims=1),
}


@probe("positional_encoding/table_by_loops")
def table_by_loops(function: Any, inputs: Inputs) -> Seen:
    """The table for one size."""
    table = function(int(inputs["max_len"]), int(inputs["d_model"]))
    return {"table": tensor(table, "the table")}


@probe("positional_encoding/sinusoid")
def sinusoid(function: Any, inputs: Inputs) -> Seen:
    """The encoding, the positions afterwards, and what becomes of an odd d_model."""
    positions, d_model = inputs["positions"], int(inputs["d_model"])
    encoding = tensor(function(positions, d_model), "the encoding")
    seen = {"encoding": encoding, "positions afterwards": positions}
    if "odd d_model" in inputs:
        odd = int(inputs["odd d_model"])
        seen["with an odd d_model"] = _outcome(lambda: function(positions, odd))
    if "loops" in inputs:
        few, many = _steps(function, 5), _steps(function, 50)
        seen["steps for 50 positions"] = (
            "more than for 5" if many > few + 20 else "as many as for 5"
        )
    return seen


def _steps(function: Any, count: int) -> int:
    """How many functions are called to encode some positions, Python's own too."""
    positions, steps = torch.arange(count), 0

    def step(_: object, event: str, __: object) -> None:
        nonlocal steps
        steps += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(step)
    try:
        function(positions, 4)
    finally:
        sys.setprofile(before)
    return steps


@probe("positional_encoding/module")
def module(make: Any, inputs: Inputs) -> Seen:
    """Outputs for one or two inputs, what trains, and what moves with the module."""
    built = _module(make(inputs["table"]))
    x = inputs["x"].requires_grad_("pull" in inputs)
    output = tensor(built(x), "the output")
    seen = {"output": output, "x afterwards": x}
    if "pull" in inputs:
        seen |= _gradient("x", output, x, inputs["pull"])
    if "longer x" in inputs:
        seen["output for a longer x"] = tensor(built(inputs["longer x"]), "the output")
    seen["numbers to train"] = torch.tensor(sum(p.numel() for p in built.parameters()))
    seen["pe is a buffer"] = torch.tensor("pe" in dict(built.named_buffers()))
    if "move" in inputs:
        half = inputs["x"].detach().to(torch.bfloat16)
        seen["dtype after .to(torch.bfloat16)"] = _outcome(
            lambda: built.to(torch.bfloat16)(half).dtype
        )
        seen['device after .to("meta")'] = _outcome(
            lambda: built.to("meta")(half.to("meta")).device
        )
    return seen


@probe("positional_encoding/input_layer")
def input_layer(make: Any, inputs: Inputs) -> Seen:
    """Values and gradient in eval mode, and what training mode does to the values."""
    ids, d_model = inputs["ids"], inputs["positions"].shape[-1]
    vocab_size, padding_idx = int(inputs["vocab_size"]), int(inputs["padding_idx"])
    layer = _module(
        make(vocab_size, d_model, _AddRows(inputs["positions"]), DROPOUT, padding_idx)
    )
    load_weights(layer, inputs)
    weights = dict(layer.named_parameters())
    output = tensor(layer(ids), "the output")
    learning = [n for n in ("embedding.weight", "positions.rows") if n in weights]
    grads = [_gradient(n, output, weights[n], inputs["pull"]) for n in learning]
    return {
        "output": output,
        **{name: grad for found in grads for name, grad in found.items()},
        "output of a second call": tensor(layer(ids), "the output"),
        "parameters": ", ".join(sorted(weights)),
        "in training mode": _dropped(output, layer.train()(ids)),
    }


class _AddRows(nn.Module):
    """Positions of one length that learn, to stand in for the student's own module."""

    def __init__(self, rows: torch.Tensor):
        super().__init__()
        self.rows = nn.Parameter(rows)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.rows


def _dropped(calm: torch.Tensor, trained: torch.Tensor) -> str:
    """In words, how the output of training mode differs from that of eval mode."""
    if calm.shape != trained.shape:
        return "another shape"
    kept = trained != 0
    zeros = "no numbers are zero" if kept.all() else "some numbers are zero"
    factor = (trained * calm)[kept].sum() / calm[kept].square().sum()
    if not torch.allclose(trained[kept], factor * calm[kept], atol=1e-3):
        return f"{zeros}, the others changed unevenly"
    return f"{zeros}, the others are {factor:.3f} times as large"


@probe("positional_encoding/shift_matrix")
def shift_matrix(function: Any, inputs: Inputs) -> Seen:
    """The matrices of two shifts."""
    d_model = int(inputs["d_model"])
    shifts = [int(inputs[name]) for name in ("k", "other k")]
    return {
        f"matrix of {name}": tensor(function(k, d_model), "the matrix")
        for name, k in zip(("the first shift", "the second shift"), shifts, strict=True)
    }


@probe("positional_encoding/learned")
def learned(make: Any, inputs: Inputs) -> Seen:
    """Output, gradient, what trains, and what becomes of too long a sentence."""
    if "start" in inputs:
        return {"first table": _start(make)}
    max_len, d_model = inputs["weights.table"].shape
    built = load_weights(make(d_model, max_len), inputs)
    x = inputs["x"]
    if x.size(1) > max_len:
        return {"with max_len + 1 vectors": _outcome(lambda: built(x))}
    output = tensor(built(x), "the output")
    weights = dict(built.named_parameters())
    return {
        "output": output,
        **_gradient("table", output, weights["table"], inputs["pull"]),
        "x afterwards": x,
        "parameters": ", ".join(weights),
    }


def _start(make: Callable[[int, int], nn.Module]) -> str:
    """In words, what a table holds before it is trained, large enough to tell."""
    first, second = (dict(make(64, 100).named_parameters())["table"] for _ in range(2))
    spread = float(first.detach().std())
    if spread < 1e-5:
        return "all numbers alike" if first.any() else "zeros"
    if torch.equal(first, second):
        return "the same numbers each time"
    return "small at random" if spread < 0.25 else "not small"


class _Tables(Mixture):
    """Tables that are right or wrong; which one is which, nobody says."""

    def things(self) -> list[str]:
        return [f"the {name}" for name in self.inputs]

    def shown(self) -> Answers:
        return {
            str(number): self.inputs[name.removeprefix("the ")]
            for number, name in enumerate(self.names)
        }


@probe("positional_encoding/bug_clinic", other=_Tables)
def bug_clinic(test: Any, inputs: Inputs, ask: Ask) -> Seen:
    """What the student's test says of each table."""
    return {number: _judged(test, table) for number, table in inputs.items()}


def _judged(test: Callable[..., Any], table: torch.Tensor) -> str:
    try:
        result = test(table)
    except AssertionError:
        return "rejected"
    if result is not None:
        raise WrongAnswer(
            f"expected the test to raise AssertionError or to return nothing, "
            f"got {describe(result)}"
        )
    return "accepted"


def _module(value: object) -> nn.Module:
    if not isinstance(value, nn.Module):
        raise WrongAnswer(f"expected an nn.Module, got {describe(value)}")
    return value


def _number(value: object, name: str) -> torch.Tensor:
    """A plain Python number is as good as a tensor without dimensions."""
    if isinstance(value, float | int) and not isinstance(value, bool):
        return torch.tensor(float(value))
    return tensor(value, name)


def _gradient(
    name: str, output: torch.Tensor, leaf: torch.Tensor, pull: torch.Tensor
) -> dict[str, torch.Tensor]:
    """Gradient of a weighted sum of the output; zeros where none flows."""
    if output.shape != pull.shape:
        return {}
    found = None
    if output.requires_grad and leaf.requires_grad:
        (found,) = torch.autograd.grad(
            (output * pull).sum(), leaf, retain_graph=True, allow_unused=True
        )
    return {f"gradient of {name}": torch.zeros_like(leaf) if found is None else found}


def _outcome(call: Callable[[], object]) -> str:
    """What a call comes to, in a word: its value, or the kind of its error.

    A subclass of ValueError is one.
    """
    try:
        value = call()
    except ValueError:
        return "ValueError"
    except Exception as error:
        return type(error).__name__
    return "no error" if isinstance(value, torch.Tensor) else str(value)


@probe("positional_encoding/draw_dimensions")
def draw_dimensions(function: Any, inputs: Inputs) -> Seen:
    """What stands on the axes: curves in the order of their names, and all names."""
    dimensions, length = inputs["dimensions"].tolist(), int(inputs["length"])
    before = function(inputs["table"], dimensions, length)  # a picture that stays open
    ax = function(inputs["table"], dimensions, length)
    if not hasattr(ax, "get_lines") or not hasattr(ax, "get_legend"):
        raise WrongAnswer(f"expected the Axes of one picture, got {describe(ax)}")
    numbers = _numbers_of_curves(ax)
    curves = [line.get_xydata() for line in sorted(numbers, key=numbers.__getitem__)]
    for drawn_on in (before, ax):
        _close(drawn_on.figure)
    seen = {
        "dimensions in the legend": ", ".join(map(str, sorted(numbers.values()))),
        "names of the axes": _named_axes(ax),
    }
    if len({len(curve) for curve in curves}) != 1:
        return seen | {"points of the curves": str([len(curve) for curve in curves])}
    drawn = torch.tensor(curves, dtype=torch.float32)  # (dimensions, length, 2)
    return seen | {"positions of the curves": drawn[..., 0], "curves": drawn[..., 1]}


def _numbers_of_curves(ax: Any) -> dict[Any, int]:
    """Each curve's number in the legend, by label or else by colour; 0: none."""
    legend = ax.get_legend()
    entries: dict[object, int] = {}
    if legend is not None:
        texts = [text.get_text() for text in legend.get_texts()]
        for text, handle in zip(texts, legend.legend_handles, strict=False):
            digits = re.findall(r"\d+", text)
            number = int(digits[-1]) if digits else 0
            colour = handle.get_color() if hasattr(handle, "get_color") else None
            entries |= {text: number, ("colour", str(colour)): number}
    lines = [
        line
        for line in ax.get_lines()
        if len(line.get_xdata()) > 1 and _is_visible(line)
    ]
    by_colour = [("colour", str(line.get_color())) for line in lines]
    return {
        line: entries.get(line.get_label(), entries.get(colour, 0))
        for line, colour in zip(lines, by_colour, strict=True)
    }


def _is_visible(line: Any) -> bool:
    signs = (line.get_linestyle(), line.get_marker())
    drawn = any(str(sign) not in ("None", "none", "", " ") for sign in signs)
    return bool(drawn and line.get_visible() and line.get_alpha() != 0)


def _named_axes(ax: Any) -> str:
    names = {"x": ax.get_xlabel(), "y": ax.get_ylabel()}
    missing = [axis for axis, name in names.items() if not name.strip()]
    return f"missing: {' and '.join(missing)}" if missing else "both"


def _close(figure: Any) -> None:
    """Take a figure from pyplot's list, or the notebook shows it under the check."""
    import matplotlib.pyplot as plt

    plt.close(figure)
