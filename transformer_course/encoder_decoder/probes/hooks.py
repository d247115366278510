"""The probe of attention weights recorded by hooks, and of the model afterwards."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch
from torch import nn

from autograder.checks.exercise import WrongAnswerError
from autograder.checks.probes import Inputs, Seen, describe, join_names, probe, tensor
from autograder.checks.probes.weights import load_weights


@probe(
    "encoder_decoder/attention_weights",
    results="entry ?; times that *; modes while called; hooks stay; "
    "hooks of others stay; left behind; * as before",
    calls="entry ?, second call, other inputs; * afterwards",
)
def attention_weights(function: Any, inputs: Inputs) -> Seen:
    """Report the attention weights that the student's function collects with hooks.

    ``inputs["look"]`` may ask for more: what the call has changed in the "model",
    or which of the weights still have an autograd "graph".
    """
    model = _StandInModel(inputs)
    load_weights(model, inputs).train()
    named = ("x", "memory", "shift")
    sequences = [inputs[name] for name in named if name in inputs]
    attentions = [model.looks[number] for number in inputs["asked"].tolist()]
    for look in model.looks:
        look.register_forward_hook(_hook_of_the_caller)
    if inputs["look"] == "model":
        model.looks[-1].eval()  # as if the caller had frozen a part
        for parameter in model.parameters():  # as after a backward pass
            parameter.grad = torch.ones_like(parameter)
    before, recorded = _State(model), list[bool]()

    def call_function(*arguments: torch.Tensor) -> Any:
        """Call the student's function, and log whether gradients are on afterwards."""
        try:
            return function(model, attentions, *arguments)
        finally:
            recorded.append(torch.is_grad_enabled())
            torch.set_grad_enabled(True)

    weights = call_function(*sequences)
    if not isinstance(weights, list | tuple) or len(weights) != len(attentions):
        raise WrongAnswerError(
            f"expected a list of {len(attentions)} tensors, one for each attention, "
            f"got {describe(weights)}"
        )
    observations: Seen = {
        f"entry {n}": tensor(w, f"entry {n}") for n, w in enumerate(weights)
    }
    if inputs["look"] == "graph":
        attached = [name for name, entry in observations.items() if entry.requires_grad]
        observations["holds on to a graph"] = join_names(attached)
    if inputs["look"] == "model":
        observations |= before.describe_changes()
        recording = "yes" if all(recorded) else "no"
        observations["recording of gradients as before"] = recording
        observations["output of the model afterwards"] = tensor(
            model(*sequences), "the output"
        )
        observations["x afterwards"] = inputs["x"]
        second_weights = call_function(*(sequence / 2 for sequence in sequences))
        observations |= {
            f"entry {n}, second call, other inputs": tensor(w, f"entry {n}")
            for n, w in enumerate(second_weights)
        }
    return observations


class _State:
    """A record of a model before the student adds hooks, to find what has changed.

    It expects all weights to have gradients of 1.
    """

    def __init__(self, model: _StandInModel):
        self._model, self._heard = model, list[str]()
        model.register_forward_hook(lambda *_: self._heard.append("once"))
        self._hooks, self._modes = _count_hooks(model), _list_modes(model)
        self._names = _list_attributes(model)

    def describe_changes(self) -> Seen:
        """Describe how the model differs from when this object was created."""
        model = self._model
        all_learn = all(parameter.requires_grad for parameter in model.parameters())
        are_gradients_kept = all(
            p.grad is not None and bool((p.grad == 1).all()) for p in model.parameters()
        )
        modes = {self._modes}
        return {
            "times that the model was called": str(model.calls),
            "times that a hook of the model heard it": str(len(self._heard)),
            "modes while called": (
                "as before" if model.modes == modes else _describe_modes(model.modes)
            ),
            "hooks stay": "yes" if _count_hooks(model) > self._hooks else "no",
            "hooks of others stay": "yes" if _has_caller_hooks(model) else "no",
            "modes as before": "yes" if _list_modes(model) == self._modes else "no",
            "learns as before": "yes" if all_learn else "no",
            "gradients as before": "yes" if are_gradients_kept else "no",
            "left behind": ", ".join(sorted(_list_attributes(model) - self._names))
            or "nothing",
        }


def _list_modes(model: nn.Module) -> tuple[bool, ...]:
    """Whether each module is in training mode."""
    return tuple(part.training for part in model.modules())


def _describe_modes(modes: Iterable[tuple[bool, ...]]) -> str:
    """Say how many modules were in eval mode in each of the calls."""
    counts = sorted({f"{mode.count(False)} of {len(mode)}" for mode in modes})
    return f"{' and '.join(counts) or 'no'} parts of the model were in eval mode"


def _list_attributes(model: nn.Module) -> set[str]:
    """The attributes of a module and of its parts, except a replaced `forward`."""
    return {name for part in model.modules() for name in vars(part)} - {"forward"}


def _hook_of_the_caller(module: nn.Module, arguments: object, result: object) -> None:
    """A hook that the model had before the student added any."""


def _has_caller_hooks(model: _StandInModel) -> bool:
    """Whether every attention layer still has its `_hook_of_the_caller`."""
    hooks = [look._forward_hooks.values() for look in model.looks]
    return all(_hook_of_the_caller in look_hooks for look_hooks in hooks)


def _count_hooks(model: nn.Module) -> int:
    """Count the hooks on all modules, and each replaced `forward`."""
    count = len(nn.modules.module._global_forward_hooks)
    for part in model.modules():
        count += len(part._forward_hooks) + len(part._forward_pre_hooks)
        count += "forward" in vars(part)
    return count


class _StandInAttention(nn.Module):
    """An attention layer without value projections; it also returns its weights."""

    def __init__(self, heads: int, size: int):
        super().__init__()
        self.matrices = nn.Parameter(torch.zeros(heads, size, size))

    def forward(
        self, query: torch.Tensor, key: torch.Tensor, value: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """The mean of all heads (B, Lq, d_model), and the weights (B, h, Lq, Lk)."""
        scores = query[:, None] @ self.matrices @ key[:, None].mT  # (B, h, Lq, Lk)
        weights = scores.softmax(dim=-1)
        return (weights @ value[:, None]).mean(1), weights


class _StandInModel(nn.Module):
    """The model that the student's function runs: some attention layers in a row."""

    def __init__(self, inputs: Inputs):
        super().__init__()
        shapes = [value.shape for name, value in inputs.items() if "matrices" in name]
        self.looks = nn.ModuleList(_StandInAttention(*shape[:2]) for shape in shapes)
        self.calls, self.modes = 0, set[tuple[bool, ...]]()

    def forward(
        self,
        x: torch.Tensor,
        memory: torch.Tensor | None = None,
        shift: torch.Tensor | None = None,
    ) -> torch.Tensor:
        """Add the output of each layer to x in turn, and log the call and the modes.

        Args:
            x: (B, L, d_model).
            memory: (B, Ls, d_model), to which every second layer attends, if given.
            shift: (d_model,), added to x.
        """
        self.calls += 1
        x = x if shift is None else x + shift
        self.modes.add(_list_modes(self))
        for number, look in enumerate(self.looks):
            source = x if memory is None or number % 2 == 0 else memory
            x = x + look(x, source, source)[0]
        return x
