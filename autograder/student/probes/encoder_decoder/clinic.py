"""The clinic: what a student's test says of decoder layers that it only calls."""

from __future__ import annotations

import copy
import functools
import itertools
import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import torch
import torch.nn.functional as F
from torch import nn

from autograder.student.exercise import Answers, WrongAnswer
from autograder.student.otherside import Ask, Mixture, given
from autograder.student.probes import Inputs, Seen, describe, probe, seed
from autograder.student.probes.encoder_decoder.patients import DecoderLayer


class _Patients(Mixture):
    """Decoder layers that are right or ill; they are called from afar."""

    KINDS: ClassVar = {
        "a right decoder layer": "right",
        "the other one": "other",
        "a third one": "third",
    }
    MOST = 1 << 12  # numbers of a sequence that a layer takes
    MOST_KEPT = 1 << 9  # outputs; a usual test asks for some dozens of a layer

    def __init__(self, inputs: Inputs, draw: random.Random):
        self._twice = draw.choice(self.things())
        super().__init__(inputs, draw)
        made = {name: self._made(name) for name in self.things()}
        self._layers = [made[name] for name in self.names]
        self._outputs: dict[tuple[object, ...], torch.Tensor] = {}

    def _made(self, name: str) -> nn.Module:
        d_model, num_heads, d_ff = self.inputs["sizes"].tolist()
        kind = str(self.inputs[self.KINDS[name]])
        return _layer(int(self.inputs["seed"]), (d_model, num_heads, d_ff), kind)

    def things(self) -> list[str]:
        return list(self.KINDS)

    def most_times(self, name: str) -> int:
        """Only one of them, any, may come twice: each costs many calls."""
        return 2 if name == self._twice else 1

    def shown(self) -> Answers:
        """The sizes, each layer's weights without names, and what else it keeps."""
        d_model, _, d_ff = self.inputs["sizes"].tolist()
        weights = {
            f"{number}.{place}": weight.detach()
            for number, layer in enumerate(self._layers)
            for place, weight in enumerate(layer.parameters())
        }
        sizes = torch.tensor([d_model, d_ff, len(self._layers)])
        kept = {n: self.inputs[n] for n in ("mask", "frozen") if n in self.inputs}
        return {"sizes": sizes, **kept, **weights}

    def answer(self, question: Answers) -> Mapping[str, object]:
        """The output of a layer, and gradients of its weighted sum if it is pulled."""
        floats = (torch.float32, torch.float64)
        number = int(given(question, "layer", 0, [torch.int64], 1))
        layer = self._layers[number]
        leaves = [
            given(question, name, 3, floats, self.MOST) for name in ("x", "memory")
        ]
        if "pull" not in question:
            return {"output": self._output(self.names[number], layer, leaves)}
        layer = _of_type(layer, leaves[0])
        pull = given(question, "pull", 3, floats, self.MOST)
        weights = list(layer.parameters())
        leaves = [leaf.requires_grad_() for leaf in leaves]
        with torch.enable_grad():  # the caller's mode is not ours
            pulled = (layer(*leaves) * pull).sum()
        grads = torch.autograd.grad(pulled, [*leaves, *weights], allow_unused=True)
        return {
            str(place): torch.zeros_like(leaf) if grad is None else grad
            for place, (leaf, grad) in enumerate(
                zip([*leaves, *weights], grads, strict=True)
            )
        }

    def _output(
        self, name: str, layer: nn.Module, given: Sequence[torch.Tensor]
    ) -> torch.Tensor:
        """What a layer makes of its inputs; the same thing's output is remembered."""
        key = (name, *((x.dtype, x.shape, x.numpy().tobytes()) for x in given))
        if key not in self._outputs:
            with torch.no_grad():
                output: torch.Tensor = _of_type(layer, given[0]).forward(*given)
            if len(self._outputs) >= self.MOST_KEPT:
                return output
            self._outputs[key] = output
        return self._outputs[key]


@functools.lru_cache(maxsize=64)
def _layer(number: int, sizes: tuple[int, int, int], kind: str) -> nn.Module:
    """The layer of a seed, "post relu, shifts" say: a visible case's comes often."""
    seed(number)
    style, _, bug = kind.partition(", ")
    return DecoderLayer(*sizes, style, bug).eval()


def _of_type(layer: nn.Module, x: torch.Tensor) -> nn.Module:
    """The layer, or a copy in float64 for a test that has called `double`."""
    return copy.deepcopy(layer).double() if x.dtype == torch.float64 else layer


class _Patient(nn.Module):
    """A decoder layer of which nobody here knows more than its weights.

    It may keep its causal mask in a buffer, its weights may be frozen, and it drops
    numbers in training.
    """

    def __init__(
        self,
        number: int,
        weights: Sequence[torch.Tensor],
        mask: torch.Tensor | None,
        frozen: bool,
        ask: Ask,
    ):
        super().__init__()
        self.weights = nn.ParameterList(
            nn.Parameter(w.clone(), requires_grad=not frozen) for w in weights
        )
        if mask is not None:
            self.register_buffer("mask", mask)
        self._number, self._ask = torch.tensor(number), ask

    def forward(self, x: torch.Tensor, memory: torch.Tensor) -> torch.Tensor:
        output: torch.Tensor
        if torch.is_grad_enabled():
            weights = self.weights.parameters()
            output = _Call.apply(self._call, x, memory, *weights)  # type: ignore[no-untyped-call]
        else:
            output = self._call(x=x, memory=memory)["output"]
        return F.dropout(output, training=self.training)

    def _call(self, **values: torch.Tensor) -> Inputs:
        return self._ask({"layer": self._number, **values})


class _Call(torch.autograd.Function):
    """A layer's output and gradients, both from the other side."""

    @staticmethod
    def forward(
        ctx: Any, call: Callable[..., Inputs], x: torch.Tensor, memory: torch.Tensor,
        *weights: torch.Tensor,
    ) -> Any:  # fmt: skip
        ctx.save_for_backward(x, memory)
        ctx.call = call
        return call(x=x, memory=memory)["output"]

    @staticmethod
    def backward(ctx: Any, pull: torch.Tensor) -> Any:
        x, memory = ctx.saved_tensors
        found = ctx.call(x=x, memory=memory, pull=pull)
        return None, *(found[str(place)] for place in range(len(found)))


@probe("encoder_decoder/bug_clinic", other=_Patients)
def bug_clinic(test: Any, inputs: Inputs, ask: Ask) -> Seen:
    """What the student's test says of each decoder layer.

    Each gets the same random numbers: no one is luckier than another.
    """
    d_model, d_ff, count = inputs["sizes"].tolist()
    found = {}
    for number in range(count):
        places = itertools.takewhile(
            inputs.__contains__, (f"{number}.{n}" for n in itertools.count())
        )
        weights = [inputs[place] for place in places]
        frozen = bool(inputs["frozen"])
        layer = _Patient(number, weights, inputs.get("mask"), frozen, ask)
        seed(0)
        found[str(number)] = _verdict(test, layer.eval(), d_model, d_ff)
    return found


# Of the layer itself, or of a test that cannot work with what it returns.
_CRASHES = (WrongAnswer, RuntimeError, IndexError, TypeError)


def _verdict(
    test: Callable[..., Any], layer: nn.Module, d_model: int, d_ff: int
) -> str:
    try:
        result = test(layer, d_model, d_ff)
    except NotImplementedError:
        raise
    except (AssertionError, *_CRASHES):
        return "rejected"
    except Exception as error:
        return f"ended by {type(error).__name__}"
    if result is not None:
        raise WrongAnswer(
            "expected the test to raise AssertionError or to return nothing, "
            f"got {describe(result)}"
        )
    return "accepted"
