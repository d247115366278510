"""Layers that a student's function calls equivariant, invariant or neither."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F

from autograder.checks.exercise import Answers, WrongAnswerError
from autograder.checks.interactor import Ask, BlindTrial, given, one_by_one
from autograder.checks.probes import Inputs, Seen, describe, probe, tensor


class _Layers(BlindTrial):
    """Layers without names: what one is called tells what it is."""

    UNSTEADY = "different words at different times"
    MOST = 1 << 10  # numbers of an input

    def things(self) -> list[str]:
        return str(self.inputs["layers"]).split(", ")

    def shown(self) -> Answers:
        """The input, its permutation, and how many layers there are."""
        shared = {name: self.inputs[name] for name in ("x", "order")}
        return {**shared, "count": torch.tensor(len(self.names))}

    def tried(self, number: int, question: Answers) -> Seen:
        """The layer's output."""
        table, x = self.inputs["table"], self.inputs["x"]
        own = given(question, "x", 2, [x.dtype], self.MOST)
        return {"output": symmetric(self.names[number], table, x)(own)}

    def conclude(self, answers: Answers) -> dict[str, object]:
        """What was said of each layer, and x afterwards."""
        words = super().conclude({})
        kept = {name: answers[name] for name in ("x afterwards",) if name in answers}
        return {f"symmetry of {name}": word for name, word in words.items()} | kept


@probe(
    "attention/symmetry",
    other=_Layers,
    results="symmetry of *",
    calls="* afterwards",
)
def symmetry(function: Any, inputs: Inputs, ask: Ask) -> Seen:
    """What the student says of each of several layers, and x afterwards."""
    x, order = inputs["x"], inputs["order"]

    def judged(number: int) -> str:
        def layer(x: Any) -> torch.Tensor:
            sent = tensor(x, "the input of the layer")
            output: torch.Tensor = ask({"thing": torch.tensor(number), "x": sent})[
                "output"
            ]
            return output

        said = function(layer, x, order)
        if not isinstance(said, str):
            raise WrongAnswerError(f"expected one of three words, got {describe(said)}")
        return said

    return one_by_one(int(inputs["count"]), ask, judged) | {"x afterwards": x}


def symmetric(name: str, table: torch.Tensor, own: torch.Tensor) -> Callable[..., Any]:
    """A layer from (L, d) to (L, d) that is equivariant, invariant or neither.

    Of ``own``, the input that is not shuffled, none of its outputs is too large.
    """
    attend = F.scaled_dot_product_attention
    faint = table.sign() / 2**12
    uneven = (1 - 2 * (torch.arange(len(own))[:, None] % 2)) / 2**18
    layers = {
        "bare attention": lambda x: attend(x, x, x),
        "large bare attention": lambda x: attend(x, x, 8 * x),
        "attention to x": lambda x: attend(table, x, x),
        "large attention to x": lambda x: attend(table, x, 8 * x),
        "attention with positions": lambda x: attend(x + table, x + table, x + table),
        "each position alone": lambda x: x.tanh(),
        "every feature sorted": lambda x: x.sort(dim=0).values,
        "a running sum": lambda x: x.cumsum(dim=0),
        "a faint table": lambda x: x + faint,
        # Apart by less than a hundred-thousandth of the outputs, which are above 64.
        "large outputs and a faint table": lambda x: x + 64 * x.sign() + faint,
        # Apart by 2^-17, less than 1e-5, but not by less than that part of 1/8.
        "small rounded outputs": lambda x: x.tanh() / 8 + uneven,
        "attention to x and a faint table": lambda x: (
            attend(table, x, x) + faint * x[:1]
        ),
        "a faint decrease": lambda x: x - (x - own).abs() / 2**12,
    }
    return layers[name]
