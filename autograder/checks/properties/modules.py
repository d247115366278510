"""Ways to test further modules: from a state dict, with half weights, or untrained."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial

import torch
from torch import nn

from autograder.checks.probes import join_names
from autograder.checks.properties.call import Call, Results, Tries, copied_module


def loaded(call: Call) -> Tries:
    """Yield calls of a module, another with its state, and a copy with halved weights.

    They show whether the state dict is complete, and the present weights are used.
    """

    def from_state() -> Results:
        second = call.remade(by_name=False)
        second.load_state_dict(call.target.state_dict())
        return replace(call, target=second.eval())()

    def halved() -> Results:
        """Call a copy, halve its weights, and call it again."""
        copy = replace(call, target=copied_module(call.target))
        copy()  # if it stores a result of this call, the next one will be wrong
        with torch.no_grad():
            for parameter in copy.target.parameters():
                parameter.mul_(0.5)
        return copy()

    yield "of a look at what it holds", partial(_list_contents, call)
    yield "of the first module", call
    in_order = ", made with all options in their order" if call.construction else ""
    yield f"of a second module with the state of the first{in_order}", from_state
    yield "of a copy with half of each weight", halved


def _list_contents(call: Call) -> Results:
    """Describe what a student's module contains but should not, by kind.

    Each text lists names, separated by commas: buffers that require a gradient and, if
    the exercise is strict, parameters and state-dict entries the solution lacks.
    """
    learning = sorted(n for n, b in call.target.named_buffers() if b.requires_grad)
    contents = {"buffers that ask for a gradient": join_names(learning)}
    if call.alone:
        state_names = sorted(call.target.state_dict().keys() - {*call.weights})
        contents["other names in the state dict"] = join_names(state_names)
    if call.named:
        parameters = dict(call.target.named_parameters(remove_duplicate=False))
        names = sorted(name for name in parameters if name not in call.weights)
        contents["parameters that are not asked for"] = join_names(names)
    return contents


def start(call: Call) -> Tries:
    """Describe in words how a new module's weights are initialised."""
    yield "", partial(_describe_start, call)


def _describe_start(call: Call) -> Results:
    """Describe in words how each parameter of a new module is initialised, by name."""
    modules = (call.remade(), call.remade(by_name=True))
    first, second = (dict(m.named_parameters()) for m in modules)
    present = [name for name in call.weights if name in first]
    names = [name for name in present if first[name].dim() > 1]
    vectors = {
        f"start of {name}": "free" if first[name].requires_grad else "frozen"
        for name in present
        if name not in names
    }
    return vectors | {
        f"start of {name}": _start(
            first[name], second[name], {n: first[n] for n in names[: names.index(name)]}
        )
        for name in names
    }


def _start(
    value: nn.Parameter, twin: torch.Tensor, earlier: dict[str, nn.Parameter]
) -> str:
    """Describe the initial values of a matrix, like "at random" or "some rows alike".

    ``twin`` is the same matrix of a second new module; ``earlier`` holds the
    matrices before it in this one.
    """
    numbers = value.detach()
    if not value.requires_grad:
        return "frozen"
    if (numbers == numbers.flatten()[0]).all():
        return "all numbers alike"
    if len(numbers.unique(dim=0)) < len(numbers):
        return "some rows alike"
    if len(numbers) > 1 and numbers.unique(dim=1).size(1) < numbers.size(1):
        return "some columns alike"
    if torch.equal(numbers, twin):
        return "the same in every module"
    for name, weight in earlier.items():
        if torch.equal(numbers, weight):
            return f"the same as {name}"
    # The usual size is about one over the root of the number of inputs.
    size = float(numbers.square().mean().sqrt())
    if not size < max(3.0, 10 / math.sqrt(numbers.size(-1))):
        return "far too large, or no numbers"
    if size < 1e-4:
        return "next to nothing"
    return "at random"
