"""Probes of unit 05: schedule, training step and training loop, on a scripted model."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import torch
from torch import nn

from autograder.checks.exercise import WrongAnswerError
from autograder.checks.probes import Inputs, Seen, describe, kind, probe
from transformer_course.sequence_reversal.probes.observing import (
    EOS,
    PAD,
    hide_unlabelled,
    read_number,
)


@probe("sequence_reversal/learning_rate", results="factors", form="kind of a factor")
def learning_rate(function: Any, inputs: Inputs) -> Seen:
    """Report the learning-rate factors at some steps, and their types.

    The student's function uses its default floor if the case has none.
    """
    warmup, steps = int(inputs["warmup"]), int(inputs["steps"])
    floor = [float(inputs["floor"])] if "floor" in inputs else []
    step_numbers = inputs["step"].tolist()
    factors = [function(s, warmup, steps, *floor) for s in step_numbers]
    numbers = [read_number(factor, "the factor") for factor in factors]
    return {
        "factors": torch.tensor(numbers, dtype=torch.get_default_dtype()),
        "kind of a factor": ", ".join(sorted(set(map(kind, factors)))),
    }


class _Scripted(nn.Module):
    """A model of two tables and two biases, which logs its inputs and its mode.

    Logits depend on the token at their position and on the mean of the source.
    """

    def __init__(self, inputs: Inputs):
        super().__init__()
        self.table = nn.Parameter(inputs["table"])  # (V, V): logits by token
        self.mix = nn.Parameter(inputs["mix"])  # (V, V): logits by source token
        self.bias = nn.Parameter(inputs["bias"])  # (V,)
        self.end = nn.Parameter(inputs["end"])  # (): the bias of EOS alone
        self.sources: list[torch.Tensor] = []
        self.inputs: list[torch.Tensor] = []
        self.part = nn.Identity()  # a submodule with a training mode, like a dropout
        self.modes: list[tuple[bool, bool]] = []  # of this module and of its part

    def forward(self, source: torch.Tensor, tokens: torch.Tensor) -> torch.Tensor:
        """Log the call; the logits are (B, T, V)."""
        self.sources.append(source.clone())
        self.inputs.append(tokens.clone())
        self.modes.append((self.training, self.part.training))
        logits = self.table[tokens] + self.mix[source].mean(dim=1, keepdim=True)
        is_eos = torch.arange(logits.size(-1)) == EOS  # (V,)
        return logits + self.bias + self.end * is_eos

    def groups(self) -> list[dict[str, Any]]:
        """The parameters in two groups, as an optimizer takes them."""
        first, second = [self.table, self.bias], [self.mix, self.end]
        return [{"params": first}, {"params": second}]

    def weights(self) -> Seen:
        """Report the parameters at the end of training."""
        return {
            "first table at the end": self.table.clone(),
            "second table at the end": self.mix.clone(),
            "biases at the end": torch.cat((self.bias, self.end.view(1))),
        }


class _LoggingSGD(torch.optim.Optimizer):
    """Plain gradient descent that logs the learning rates of each step, (groups,).

    It does not inherit from `torch.optim.SGD`, which would call step hooks twice.
    """

    def __init__(self, groups: Sequence[dict[str, Any]], lr: float):
        super().__init__(groups, {"lr": lr})
        self.rates: list[list[float]] = []

    @torch.no_grad()
    def step(self, closure: Any = None) -> Any:
        """Take one step and log the rates, which step hooks may have changed."""
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        self.rates.append([group["lr"] for group in self.param_groups])
        for group in self.param_groups:
            for parameter in group["params"]:
                if parameter.grad is not None:
                    parameter.add_(parameter.grad, alpha=-group["lr"])
        return loss


@probe(
    "sequence_reversal/training_step",
    results="source that the model sees; * at the end; what the batch does not use",
    form="kind of the loss",
    mode="in training mode; its parts in training mode",
    parts={
        "decoder input": "decoder input",
        "first loss": "first loss",
        "losses": "losses",
    },
)
def training_step(function: Any, inputs: Inputs) -> Seen:
    """Report the losses, the model's inputs and mode, and its parameters at the end.

    The model logs its calls. Cases may have a bound for clipping ("max_norm"), a
    custom loss ("weight"), or gradients from before the first step ("spare").
    """
    model = _Scripted(inputs)
    rate = float(inputs["rate"])
    optimizer = torch.optim.SGD(model.groups(), lr=rate, momentum=0.25)
    if "spare" in inputs:  # unusual: gradients are left from an earlier step
        for parameter in model.parameters():
            parameter.grad = torch.ones_like(parameter)
    bound = [float(inputs["max_norm"])] if "max_norm" in inputs else []
    losses: list[object] = []
    for source, target in zip(inputs["source"], inputs["target"], strict=True):
        model.train(len(losses) % 2 == 1)  # the caller may leave (parts) in eval mode
        model.part.eval()
        loss_options = _read_loss(inputs)
        losses.append(
            function(model, optimizer, source, target, *bound, **loss_options)
        )
    if not model.inputs:
        raise WrongAnswerError("the model was never called")
    labels = inputs["target"][0][:, 1:]
    observations: Seen = {
        "decoder input": hide_unlabelled(model.inputs[0], labels),
        "source that the model sees": model.sources[0],
        "kind of the loss": kind(losses[0], float),
        "first loss": _read_losses(losses[:1]),
        "losses": _read_losses(losses),
        "in training mode": torch.tensor(
            all(is_training for is_training, _ in model.modes)
        ),
        "its parts in training mode": torch.tensor(
            all(is_part_training for _, is_part_training in model.modes)
        ),
        **model.weights(),
    }
    if "spare" in inputs:
        observations["what the batch does not use"] = _observe_unused(function, inputs)
    return observations


def _observe_unused(function: Any, inputs: Inputs) -> torch.Tensor:
    """Train for one step, and return a parameter that the model does not use.

    It has an old gradient, but the step must not change it.
    """
    model = _Scripted(inputs)
    model.spare = nn.Parameter(torch.ones(3))
    optimizer = torch.optim.SGD(model.parameters(), lr=float(inputs["rate"]))
    for parameter in model.parameters():
        parameter.grad = torch.ones_like(parameter)
    with suppress(AttributeError, TypeError, RuntimeError):
        function(model, optimizer, inputs["source"][0], inputs["target"][0])
    return model.spare


def _read_loss(inputs: Inputs) -> dict[str, Any]:
    """Make the argument ``loss_function`` with which to call the student's function.

    The result has it by name, and is empty if the function is called without it. In
    a case with "weight", the loss weighs EOS and late columns more than others.
    """
    if "weight" not in inputs:
        # None must mean the same as no argument.
        return {"loss_function": None} if "max_norm" in inputs else {}

    def weigh_loss(logits: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        loss = -logits.log_softmax(-1).gather(-1, labels[..., None])[..., 0]  # (B, L)
        loss = loss * (1 + torch.arange(labels.size(-1)) / 8)
        eos_loss: torch.Tensor = inputs["weight"] * loss[labels == EOS].sum()
        return loss[labels != PAD].sum() + eos_loss

    return {"loss_function": weigh_loss}


def _read_losses(losses: Sequence[object]) -> torch.Tensor:
    """Convert the losses that a student's function returned to a tensor (steps,)."""
    numbers = [read_number(loss, "the loss") for loss in losses]
    return torch.tensor(numbers, dtype=torch.get_default_dtype())


@probe(
    "sequence_reversal/fit",
    results="learning rates; batches drawn; steps taken when a batch is drawn; "
    "* at the end",
    form="kind of a loss",
    parts={"losses": "losses"},
)
def fit(function: Any, inputs: Inputs) -> Seen:
    """Report how the student's training loop runs, and what it returns.

    The model and the optimizer are stand-ins that log what happens.
    """
    model = _Scripted(inputs)
    rate = float(inputs["rate"])
    # `fit` should take the peak from the groups, not from the optimizer's default.
    default_rate = float(inputs.get("others", rate))
    groups = [{**group, "lr": rate} for group in model.groups()]
    optimizer = _LoggingSGD(groups, lr=default_rate)
    batches = list(zip(inputs["source"], inputs["target"], strict=True))
    draw_steps: list[int] = []  # for each batch, the steps taken before it was drawn

    def next_batch() -> tuple[torch.Tensor, torch.Tensor]:
        draw_steps.append(len(optimizer.rates))
        return batches[(len(draw_steps) - 1) % len(batches)]

    steps, warmup = int(inputs["steps"]), int(inputs["warmup"])
    loss_options = _read_loss(inputs)
    losses = function(model, optimizer, next_batch, steps, warmup, **loss_options)
    if not isinstance(losses, list | tuple) or not losses:
        raise WrongAnswerError(f"expected a list of losses, got {describe(losses)}")
    rates = torch.tensor(optimizer.rates, dtype=torch.get_default_dtype())
    return {
        "learning rates": rates.reshape(len(rates), -1),
        "batches drawn": torch.tensor(len(draw_steps)),
        "steps taken when a batch is drawn": torch.tensor(draw_steps),
        "kind of a loss": kind(losses[0], float),
        "losses": _read_losses(losses),
        **model.weights(),
    }
