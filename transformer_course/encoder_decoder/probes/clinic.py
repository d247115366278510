"""The probe of the bug clinic, where a student's test judges decoder layers.

The judge, a trusted process, runs them: student code cannot see the bugs.
"""

from __future__ import annotations

import contextlib
import copy
import functools
import json
import math
import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
import torch.nn.functional as F
from torch import nn

from autograder.checks.exercise import Answers, Value, WrongAnswerError
from autograder.checks.interactor import Ask, one_by_one, require_tensor
from autograder.checks.probes import Inputs, Seen, probe, seed
from autograder.checks.probes.clinics import Patients, accepts
from transformer_course.encoder_decoder.probes.ahead import (
    MOST_AHEAD,
    MOST_EARLY_NUMBERS,
    OutputPrefetcher,
    Pair,
    Successors,
    format_suffix,
    read_form,
)
from transformer_course.encoder_decoder.probes.patients import DecoderLayer


class _ClinicInteractor(Patients):
    """The judge's side of the bug clinic: it runs correct and buggy layers."""

    RIGHT = "a right decoder layer"
    MOST = 1 << 12  # entries of a sequence that a layer accepts
    MOST_EARLY = 1 << 9  # outputs that are computed ahead of time

    def __init__(self, inputs: Inputs, draw: random.Random):
        # The parent calls `most_times`, which needs this attribute.
        self._twice = draw.choice(self.list_subjects())
        super().__init__(inputs, draw)
        self._layers = [self._build_layer(name) for name in self.names]
        self._early = 0  # how many outputs have been requested ahead of time

    def _build_layer(self, name: str) -> DecoderLayer:
        """Build a decoder layer with the case's sizes and random weights.

        ``name`` is the layer's name in the answers; see `list_subjects`.
        """
        sizes = tuple(self.inputs["sizes"].tolist())
        return _make_layer(self.own_seed(), sizes, *self.style_and_bug(name))

    def most_times(self, name: str) -> int:
        """Return how often the test may get a layer: 2 for a random one, else 1."""
        return 2 if name == self._twice else 1

    def reveal_inputs(self) -> Answers:
        """Return what the student's side may know: sizes, and the shapes of weights.

        The weights stay hidden: a test could compute the correct output from them.

        Returns:
            "sizes" (d_model, d_ff, the number of layers), and "shapes.0" and so on: the
            shapes of each layer's weights, as JSON.
        """
        d_model, _, d_ff = self.inputs["sizes"].tolist()
        sizes = torch.tensor([d_model, d_ff, len(self._layers)])
        answers: dict[str, Value] = {"sizes": sizes}
        for number, layer in enumerate(self._layers):
            shapes = [list(weight.shape) for weight in layer.parameters()]
            answers[f"shapes.{number}"] = json.dumps(shapes)
        return answers

    def try_subject(self, number: int, question: Answers) -> Mapping[str, object]:
        """Compute a layer's output, or gradients if the question contains "pull".

        A question contains "x" and "memory"; "pull" is the gradient of a loss with
        respect to the output. Stacks "x.0", "memory.0" and so on are computed ahead.

        Returns:
            "output", with "output.0" and so on for these stacks of further pairs; or
            gradients, as `_compute_gradients` names them.
        """
        pair = self._read_sequences(question, "", 3, self.MOST)
        if "pull" in question:
            return self._compute_gradients(number, pair, question)
        layer, early = self._layers[number], self._read_early_pairs(question)
        # A first group of the same form is computed in one stack with the pair itself.
        beside = early[0] if early and read_form(early[0][0]) == read_form(pair) else []
        output, *more_outputs = _run_layer(layer, [pair, *beside])
        response = {"output": output}
        for place, group in enumerate(early):
            try:
                outputs = more_outputs if group is beside else _run_layer(layer, group)
            except Exception:  # raised again if one is asked for directly
                break
            response[f"output{format_suffix(place)}"] = torch.stack(outputs)
        return response

    def _read_early_pairs(self, question: Answers) -> list[list[Pair]]:
        """Read the pairs of x and memory that a question asks for ahead of time.

        The pairs of a group agree in shapes and dtypes. Groups from the first invalid
        or too large one on are left out: the test can still ask for each directly.
        """
        groups: list[list[Pair]] = []
        room = min(MOST_AHEAD, self.MOST_EARLY - self._early)
        with contextlib.suppress(WrongAnswerError):
            for ending in map(format_suffix, range(room)):
                if f"x{ending}" not in question:
                    break
                most = room * MOST_EARLY_NUMBERS
                x, memory = self._read_sequences(question, ending, 4, most)
                fits = 0 < len(x) == len(memory) <= room
                if not fits or _count_largest(x, memory) > MOST_EARLY_NUMBERS:
                    break
                room -= len(x)
                self._early += len(x)
                groups.append(list(zip(x, memory, strict=True)))
        return groups

    def _read_sequences(
        self, question: Answers, ending: str, dim: int, most: int
    ) -> Pair:
        """Read the tensors x and memory, with this ending of their names in a question.

        Raises WrongAnswerError if they do not have ``dim`` dimensions and one float
        dtype, or have more than ``most`` entries.
        """
        x, memory = (
            require_tensor(question, f"{name}{ending}", dim, _FLOATS, most)
            for name in ("x", "memory")
        )
        if x.dtype != memory.dtype:
            raise WrongAnswerError(f"x is of {x.dtype}, the memory of {memory.dtype}")
        return x, memory

    def _compute_gradients(
        self, number: int, pair: Pair, question: Answers
    ) -> dict[str, torch.Tensor]:
        """Return the gradients of the sum of a layer's output times the tensor "pull".

        They are named "0", "1" and so on: of x, of the memory and of each weight.
        """
        layer, x = self._layers[number], pair[0]
        pull = require_tensor(question, "pull", 3, _FLOATS, self.MOST)
        layer = _match_dtype(layer, x)
        dtype = next(layer.parameters()).dtype
        leaves = [leaf.to(dtype, copy=True).requires_grad_() for leaf in pair]
        weights = list(layer.parameters())
        with torch.enable_grad():  # the caller may have disabled gradients
            pulled = (layer(*leaves) * pull).sum()
        wanted = [*leaves, *weights]
        grads = torch.autograd.grad(pulled, wanted, allow_unused=True)
        return {
            str(place): (torch.zeros_like(leaf) if grad is None else grad).to(x.dtype)
            for place, (leaf, grad) in enumerate(zip(wanted, grads, strict=True))
        }


_FLOATS = (torch.float32, torch.float64)


@functools.lru_cache(maxsize=128)  # more layers than two checks with new cases need
def _make_layer(
    number: int, sizes: tuple[int, ...], style: str, bug: str
) -> DecoderLayer:
    """Make the decoder layer for a seed (``number``), sizes, a style and a bug.

    It usually computes in float64, so that batching does not change float32
    outputs. ``sizes`` are d_model, the number of heads, and d_ff.
    """
    seed(number)
    d_model, num_heads, d_ff = sizes
    layer = DecoderLayer(d_model, num_heads, d_ff, style, bug).eval()
    return layer if layer.rounding else layer.double()


def _match_dtype(layer: DecoderLayer, x: torch.Tensor) -> DecoderLayer:
    """The layer, or a float64 copy if it is float32 and the inputs are float64."""
    exact = layer.rounding and x.dtype == torch.float64
    return copy.deepcopy(layer).double() if exact else layer


@torch.no_grad()
def _run_layer(layer: DecoderLayer, pairs: Sequence[Pair]) -> list[torch.Tensor]:
    """Compute a layer's outputs for pairs of x and memory, in the dtype of the pairs.

    All pairs have the same shapes and dtypes.
    """
    wanted = pairs[0][0].dtype
    layer = _match_dtype(layer, pairs[0][0])
    # Such a layer computes in float32, whose rounding would change in a batch.
    if layer.rounding:
        return [layer.forward(*pair) for pair in pairs]
    x, memory = (
        [sequence.double() for sequence in sequences]
        for sequences in zip(*pairs, strict=True)
    )
    return [output.to(wanted) for output in layer.compute_batches(x, memory)]


def _count_largest(*stacks: torch.Tensor) -> int:
    """Return the number of entries of the largest tensor in these stacks of tensors.

    A stack's first dimension counts its tensors. Sizes of 0 count as 1.
    """
    return max(math.prod(max(side, 1) for side in stack.shape[1:]) for stack in stacks)


# Shared by all layers and cases: equal sizes get equal inputs.
_SUCCESSORS: Successors = {}


class _RemoteLayer(nn.Module):
    """A decoder layer as the student's test gets it: the judge computes its outputs.

    It knows only the shapes of its weights. In training mode it applies dropout.
    """

    def __init__(self, number: int, shapes: Sequence[Sequence[int]], ask: Ask):
        super().__init__()
        self.weights = nn.ParameterList(
            nn.Parameter(torch.randn(*shape)) for shape in shapes
        )
        self._leaves = tuple(self.weights)  # since iterating over a module is slow
        self._number, self._ask = torch.tensor(number), ask
        self._ahead = OutputPrefetcher(_SUCCESSORS, self._send)

    def forward(self, x: torch.Tensor, memory: torch.Tensor) -> torch.Tensor:
        """Return the judge's output, with a gradient if any tensor requires one."""
        output: torch.Tensor
        leaves = (x, memory, *self._leaves)
        learning = (isinstance(v, torch.Tensor) and v.requires_grad for v in leaves)
        if torch.is_grad_enabled() and any(learning):
            output = _Call.apply(self._ahead, self._send, *leaves)  # type: ignore[no-untyped-call]
        else:
            output = self._ahead(x, memory)
        return F.dropout(output, training=self.training)

    def _send(self, **values: torch.Tensor) -> Inputs:
        """Send tensors to the judge as a question to this layer; return the answer."""
        return self._ask({"thing": self._number, **values})


class _Call(torch.autograd.Function):
    """A differentiable call of a layer; the judge computes output and gradients."""

    @staticmethod
    def forward(
        ctx: Any, ahead: OutputPrefetcher, call: Callable[..., Inputs], x: torch.Tensor,
        memory: torch.Tensor, *weights: torch.Tensor,
    ) -> Any:  # fmt: skip
        """Return the layer's output, which ``ahead`` requests or has cached.

        The weights are arguments only so that they can get gradients.
        """
        ctx.save_for_backward(x, memory)
        ctx.call = call
        return ahead(x, memory)

    @staticmethod
    def backward(ctx: Any, pull: torch.Tensor) -> Any:
        """Ask the judge for the gradients, given the output's gradient, ``pull``."""
        x, memory = ctx.saved_tensors
        gradients = ctx.call(x=x, memory=memory, pull=pull)
        return None, None, *(gradients[str(place)] for place in range(len(gradients)))


@probe(
    "encoder_decoder/bug_clinic",
    interactor=_ClinicInteractor,
    results="a right decoder layer; the other one; a third one",
)
def bug_clinic(test: Any, inputs: Inputs, ask: Ask) -> Seen:
    """Run the student's test on each decoder layer, and send the judge its verdicts.

    The test uses the same random numbers for each layer.
    """
    d_model, d_ff, count = inputs["sizes"].tolist()

    def judge_layer(number: int) -> str:
        """Return the test's verdict on the layer ``number``; see `_run_test`."""
        shapes = json.loads(inputs[f"shapes.{number}"])
        layer = _RemoteLayer(number, shapes, ask)
        seed(0)
        return _run_test(test, layer.eval(), d_model, d_ff)

    return one_by_one(count, ask, judge_layer)


# Errors of a buggy layer, or of a test that cannot handle the output of such a layer.
_CRASHES = (WrongAnswerError, RuntimeError, IndexError, TypeError)


def _run_test(
    test: Callable[..., Any], layer: nn.Module, d_model: int, d_ff: int
) -> str:
    """Run the student's test on a layer, and return its verdict.

    Returns:
        "accepted", "rejected" (also for `_CRASHES`), or "ended by NAME" for others.

    Raises:
        NotImplementedError, NameError: the test raised it, which is its own fault.
        WrongAnswerError: the test has returned something.
    """
    try:
        result = test(layer, d_model, d_ff)
    except (NotImplementedError, NameError):  # faults of the test, whatever the layer
        raise
    except (AssertionError, *_CRASHES):
        return "rejected"
    except Exception as error:
        return f"ended by {type(error).__name__}"
    return accepts(result)
