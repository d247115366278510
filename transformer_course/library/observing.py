"""What probes of several units look at in every function and in every module."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import torch
from torch import nn

from autograder.checks.exercise import WrongAnswerError
from autograder.checks.probes import (
    Inputs,
    Seen,
    describe,
    join_names,
    moving,
    probe,
    tensor,
)
from autograder.checks.probes.weights import BEGINNING

Call = Callable[[torch.Tensor], torch.Tensor]
# Declared by each probe of a module, in addition to its results.
module_probe = partial(
    probe,
    calls="* afterwards",
    learning=f"{BEGINNING}; other parameters; parameters without a gradient; "
    "gradient of *",
    mode="output in training mode",
)


def whole(inputs: Inputs, *names: str) -> tuple[int, ...]:
    """Some of the inputs as Python integers."""
    return tuple(int(str(inputs[n].item())) for n in names)


def number(result: object, name: str) -> torch.Tensor:
    """Read a number that a function has returned, in the default dtype."""
    if isinstance(result, torch.Tensor) and result.numel() == 1:
        result = result.item()
    if isinstance(result, bool) or not isinstance(result, int | float):
        raise WrongAnswerError(f"expected {name} as one number, got {describe(result)}")
    return torch.tensor(float(result), dtype=torch.get_default_dtype())


def module_answers(module: nn.Module, inputs: Inputs) -> Seen:
    """Report on a loaded module: parameters, outputs in both modes, and gradients.

    Where a case asks for it, also which outputs move when a position of x changes.
    """

    def call(x: torch.Tensor) -> torch.Tensor:
        return tensor(module(x), "the output")

    x, seen = inputs["x"], Seen()
    with torch.no_grad():
        output = call(x)
        if "look" in inputs:
            seen["output moves with x"] = who_moves(call, x, output)
        seen["other parameters"] = name_extras(module, inputs)
        seen |= {"output": output, "x afterwards": x} | settled(module, call, x)
    if "pull" in inputs:
        leaf = x.clone().requires_grad_()
        # A copy, since a leaf could not be changed in place: that is reported above.
        still = unmoved(module, call(leaf.clone()), inputs)
        seen["gradient of x"] = torch.zeros_like(x) if leaf.grad is None else leaf.grad
        seen["parameters without a gradient"] = still
    return seen


def settled(module: nn.Module, call: Call, x: torch.Tensor) -> Seen:
    """Report the output in training mode, and that of one row without the others."""
    module.train()
    training = call(x)
    module.eval()
    return {
        "output in training mode": training,
        "output of one row alone": call(x[1:2]),
    }


def read_numbers(module: nn.Module, *names: str) -> Seen:
    """The numbers that a module has as attributes, as text."""
    found = {name: str(getattr(module, name, None)) for name in names}
    return {name: value.removesuffix(".0") for name, value in found.items()}


def name_extras(module: nn.Module, inputs: Inputs) -> str:
    """The names in the state dict beyond those that were loaded."""
    extras = [name for name in module.state_dict() if f"weights.{name}" not in inputs]
    return join_names(sorted(extras))


def unmoved(module: nn.Module, output: torch.Tensor, inputs: Inputs) -> str:
    """The names of parameters that the output does not depend on."""
    pull = inputs["pull"]
    if output.shape != pull.shape or not output.requires_grad:
        return "all"
    module.zero_grad()
    (output * pull).sum().backward()
    named = dict(module.named_parameters())
    still = [n for n, p in named.items() if p.grad is None or not p.grad.any()]
    return join_names(sorted(still))


def who_moves(call: Call, x: torch.Tensor, before: torch.Tensor) -> torch.Tensor:
    """(B, L, L): does output i move from where it was when position j changes?

    Vectors are pushed unevenly, since a norm removes an even push; ids are counted on.
    """

    def difference(j: int, push: moving.Push) -> torch.Tensor:
        pushed = x.clone()
        if x.is_floating_point():
            pushed[:, j] += push(x)
        else:
            pushed[:, j] = (x[:, j] - 1).abs()  # 0 becomes 1
        return call(pushed) - before

    return moving.who_moves(difference, x.size(1))


def in_half(call: Call, x: torch.Tensor) -> Seen:
    """Report the dtype for float16 inputs, and the values as ordinary numbers."""
    result = call(x.half())
    bfloat = call(x.bfloat16())
    return {
        "dtype for float16": str(result.dtype).removeprefix("torch."),
        "output for float16": result.to(torch.get_default_dtype()),
        "dtype for bfloat16": str(bfloat.dtype).removeprefix("torch."),
    }
