"""What the probes of unit 04 look at in every module."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import nn

from autograder.checks.probes import Inputs, Seen, gradients, join_names, moving, tensor


def observe(
    module: nn.Module, names: Sequence[str], masks: Sequence[str], inputs: Inputs
) -> Seen:
    """Report what a module makes of its sequences, and of masks if there are any."""
    mask_tensors = [inputs.get(name) for name in masks]
    while mask_tensors and mask_tensors[-1] is None:
        mask_tensors.pop()

    def call(*sequences: torch.Tensor) -> torch.Tensor:
        return tensor(module(*sequences, *mask_tensors), "the output")

    sequences = [inputs[name] for name in names]
    by_name = dict(zip(names, sequences, strict=True))
    observations: Seen = {"other parameters": extras(module, inputs)}
    # Before the output: the panel draws the first thing that is wrong.
    with torch.no_grad():
        for name in names:
            observations[f"output moves with {name}"] = who_moves(
                lambda **changed: call(*(by_name | changed).values()), by_name, name
            )
    observations["output"] = call(*sequences)
    if "rate" in inputs:
        module.train()
        observations["output in training"] = call(*sequences)
        module.eval()
    afterwards = [*names, *(name for name in masks if name in inputs)]
    observations |= {f"{name} afterwards": inputs[name] for name in afterwards}
    return observations | gradients(call, sequences, names, inputs)


# What `chances` reports.
DROPPED = (
    "what the branches add in eval mode; * factors on it in training; "
    "other factors than these; dropped together for all *"
)


def chances(
    module: nn.Module, names: Sequence[str], branches: int, inputs: Inputs
) -> Seen:
    """Report how dropout scales what each branch of a pre-norm layer adds.

    The branches of these inputs ignore their argument and add their last bias, which is
    zero but in features of their own, so that each component of the difference tells of
    one drop. Which are dropped is random and not reported, only what every draw shares.
    """

    def added() -> torch.Tensor:
        sequences = [inputs[name] for name in names]
        output = tensor(module(*sequences), "the output")
        return torch.sub(output, inputs["x"])

    with torch.no_grad():
        calm = added()
        module.train()
        factors = added() / calm.where(calm != 0, 1.0)  # calm is 0 if eval mode drops
        factors = factors.unflatten(-1, (-1, branches))  # (B, L, each, branch)
    scale = 1 / (1 - float(inputs["rate"]))
    between = (factors.abs() > _NEAR) & ((factors - scale).abs() > _NEAR)
    dropped = factors.abs() < scale / 2
    return {
        "what the branches add in eval mode": calm,
        "smallest factors on it in training": factors.flatten(0, 2).amin(0),
        "largest factors on it in training": factors.flatten(0, 2).amax(0),
        "other factors than these": between.flatten(0, 2).sum(0),
        "dropped together for all sentences": _together(dropped, 0),
        "dropped together for all positions": _together(dropped, 1),
        "dropped together for all features": _together(dropped, 2),
    }


def _together(dropped: torch.Tensor, dim: int) -> torch.Tensor:
    """Return which branches are dropped all along a dimension, or not at all."""
    alike = torch.eq(dropped, dropped.narrow(dim, 0, 1))
    return alike.flatten(0, 2).all(0)


_NEAR = 1e-3  # to zero, or to the factor on what is kept


def extras(module: nn.Module, inputs: Inputs) -> str:
    """The parameters beyond those that were loaded; a shared one has several names."""
    names: dict[int, str] = {}  # the first one of each parameter
    loaded = set()
    for name, parameter in module.named_parameters(remove_duplicate=False):
        names.setdefault(id(parameter), name)
        if f"weights.{name}" in inputs:
            loaded.add(id(parameter))
    extras = [name for key, name in names.items() if key not in loaded]
    return join_names(sorted(extras))


def who_moves(
    function: Callable[..., Any],
    arguments: Mapping[str, torch.Tensor],
    name: str,
    pad_id: int = 0,
) -> torch.Tensor:
    """(B, Lq, Lk): does output i move when position j of the named input changes?

    Vectors are pushed unevenly, since a norm removes an even push; an id becomes a
    neighbouring one, unless it is padding.
    """
    argument, before = arguments[name], function(**arguments)

    def move(j: int, push: moving.Push) -> torch.Tensor:
        changed = argument.clone()
        if argument.is_floating_point():
            changed[:, j] += push(argument)
        else:
            changed[:, j] = _change_ids(argument[:, j], pad_id)
        movement: torch.Tensor = function(**{name: changed}) - before
        return movement

    return moving.who_moves(move, argument.size(1))


def _change_ids(ids: torch.Tensor, pad_id: int) -> torch.Tensor:
    """Replace ids by neighbouring ones; padding stays, and nothing becomes padding."""
    down = (ids > 0) & (ids - 1 != pad_id)
    up = torch.where(ids + 1 == pad_id, ids + 2, ids + 1)
    return torch.where(ids == pad_id, ids, torch.where(down, ids - 1, up))
