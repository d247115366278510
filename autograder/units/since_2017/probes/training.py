"""Probes of the optimizer, of clipping and of the trained model."""

from __future__ import annotations

import contextlib
import importlib
import sys
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

import torch
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode

from autograder.checks.exercise import Answers, WrongAnswerError
from autograder.checks.interactor import Ask, Interactor
from autograder.checks.probes import (
    Inputs,
    Seen,
    describe,
    kind,
    options,
    probe,
    tensor,
)
from autograder.checks.probes.weights import weights_of, with_weights
from autograder.units.since_2017.probes.observing import number

_LATE = (1, 4)  # steps in which a parameter has a gradient, and in no other one
_OTHER = "the weights of this model are not those of a `new_model()`"


@probe(
    "since_2017/adamw",
    results="* after one step; * after all steps; direction in step *; "
    "gradients forgotten; an optimizer of PyTorch at work",
    calls="* afterwards",
    learning="parameters changed in place",
)
def adamw(optimizer_class: Callable[..., Any], inputs: Inputs) -> Seen:
    """Parameters after the first step and after all, with the gradients afterwards."""
    names = [name for name in ("matrix", "vector", "idle") if name in inputs]
    parameters = {name: nn.Parameter(inputs[name]) for name in names}
    parameters["twin"] = nn.Parameter(inputs["matrix"].flip(0))  # of the same shape
    if late := "pulls of late" in inputs:
        parameters["late"] = nn.Parameter(torch.zeros_like(inputs["pulls of late"][0]))
    views = {name: parameter.detach() for name, parameter in parameters.items()}
    given: dict[str, object] = options(inputs)
    if "betas" in inputs:
        given["betas"] = tuple(inputs["betas"].tolist())
    borrowed: Any = _Borrowed()  # type: ignore[no-untyped-call]  # of PyTorch's
    with _counted() as calls:
        optimizer = optimizer_class(iter(parameters.values()), **given)
    steps = inputs["gradient of matrix"].size(0)
    seen: dict[str, object] = {}
    for t in range(steps):
        if "rates" in inputs:
            optimizer.lr = inputs["rates"][t].item()
        optimizer.zero_grad()
        for name in ("matrix", "vector"):
            parameters[name].grad = inputs[f"gradient of {name}"][t].clone()
        parameters["twin"].grad = -inputs["gradient of matrix"][t].flip(1)
        if late and t in _LATE:
            parameters["late"].grad = inputs["pulls of late"][_LATE.index(t)].clone()
            parameters["late"].detach().zero_()  # no decay: it goes where m says
        with borrowed:
            optimizer.step()
        if late and t in _LATE:
            seen[f"direction in step {t + 1}"] = parameters["late"].sign()
        if t == 0:
            seen |= {f"{n} after one step": p.clone() for n, p in parameters.items()}
    parameters.pop("late", None)  # how often it was moved, some count for themselves
    seen |= {f"{n} after all steps": p.clone() for n, p in parameters.items()}
    left = parameters["matrix"].grad
    if left is not None:
        seen["gradient afterwards"] = left
    same = all(bool((p == views[n]).all()) for n, p in parameters.items())
    optimizer.zero_grad()
    cleared = all(p.grad is None or not p.grad.any() for p in parameters.values())
    return seen | {
        "parameters changed in place": torch.tensor(same),
        "gradients forgotten": torch.tensor(cleared),
        "an optimizer of PyTorch at work": torch.tensor(bool(calls) or borrowed.seen),
    }


class _Borrowed(TorchDispatchMode):
    """Sees steps of PyTorch's: its fused ones, and those made in `torch.optim`."""

    seen = False

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        self.seen |= "_fused_adam" in str(func) or _within_optim()
        return func(*args, **(kwargs or {}))


def _within_optim() -> bool:
    """Whether a function of `torch.optim` is at work."""
    frame: FrameType | None = sys._getframe()
    while frame:
        if str(frame.f_globals.get("__name__")).startswith("torch.optim"):
            return True
        frame = frame.f_back
    return False


@contextlib.contextmanager
def _counted() -> Iterator[list[str]]:
    """Notes each optimizer of PyTorch's own, which is not to be used."""
    made: list[str] = []
    kind: Any = torch.optim.Optimizer
    own = kind.__init__

    def noted(self: Any, *args: Any, **keywords: Any) -> None:
        made.append(type(self).__name__)
        own(self, *args, **keywords)

    kind.__init__ = noted
    try:
        yield made
    finally:
        kind.__init__ = own


@probe(
    "since_2017/clip_gradients",
    results="length; gradient *; changed in place",
    calls="kind of the length",
    learning="parameters as they were",
)
def clip_gradients(function: Callable[..., Any], inputs: Inputs) -> Seen:
    """The length that is returned, its kind, and all gradients afterwards."""
    given = [inputs[name] for name in ("first", "second", "third") if name in inputs]
    parameters = [nn.Parameter(torch.ones_like(gradient)) for gradient in given]
    for parameter, gradient in zip(parameters, given, strict=True):
        parameter.grad = gradient.clone()
        if "turned" in inputs and gradient.dim() == 2:  # as a turned product leaves it
            parameter.grad = gradient.mT.contiguous().mT
    parameters[-1].requires_grad_(False)  # frozen since it got its gradient
    parameters.insert(1, nn.Parameter(torch.ones(3)))  # nothing depends on this one
    held = [p.grad for p in parameters]
    length = function(iter(parameters), inputs["max_norm"].item())
    seen: dict[str, object] = {
        "length": number(length, "the length"),
        "kind of the length": kind(length, float),
    }
    clipped = [p.grad for p in parameters if p.grad is not None]
    for place, gradient in enumerate(clipped):
        seen[f"gradient {place}"] = gradient
    same = all(p.grad is old for p, old in zip(parameters, held, strict=True))
    ones = all(bool((p == 1).all()) for p in parameters)
    return seen | {
        "changed in place": torch.tensor(same),
        "parameters as they were": torch.tensor(ones),
    }


# --- the trained model ----------------------------------------------------------------


class _Reader(Interactor):
    """The course's model with the weights that are handed over reads fresh text.

    Whatever finds a text probable in another way than by its weights stays behind.
    """

    keeps = frozenset({"windows"})

    def conclude(self, answers: Answers) -> Seen:
        unit = importlib.import_module("autograder.solutions.since_2017")
        model = with_weights(unit.new_model(), answers, _OTHER)
        return examined(model, self.inputs["windows"].long())


def _trained_here(function: Callable[..., Any], inputs: Inputs) -> Seen:
    """The same where both sides are one: the student's own model reads the text."""
    return examined(_model_of(function), inputs["windows"].long())


@probe(
    "since_2017/trained_model",
    other=_Reader,
    here=_trained_here,
    results="nats; likelihood",
)
def trained_model(function: Callable[..., Any], inputs: Inputs, ask: Ask) -> Seen:
    """The weights of the model, by their names."""
    return weights_of(_model_of(function))


def _model_of(function: Callable[..., Any]) -> nn.Module:
    model = function()
    if not isinstance(model, nn.Module):
        raise WrongAnswerError(f"expected an nn.Module, got {describe(model)}")
    return model.cpu().eval()


def examined(model: nn.Module, windows: torch.Tensor) -> Seen:
    """What a model makes of windows of bytes (N, L + 1)."""
    shown, wanted = windows[:, :-1], windows[:, 1:]
    total, same = 0.0, 0
    with torch.no_grad():
        for ids, right in zip(shown.split(64), wanted.split(64), strict=True):
            logits = tensor(model(ids), "the logits")
            if (
                logits.dim() != 3
                or logits.shape[:2] != ids.shape
                or logits.size(2) < 128
            ):
                raise WrongAnswerError(
                    f"expected logits (B, L, 128) with B, L = {tuple(ids.shape)}, "
                    f"got {tuple(logits.shape)}"
                )
            prices = logits.double().log_softmax(-1).gather(-1, right[..., None])
            total -= prices.sum().item()
            same += int((logits.argmax(-1) == ids).sum())
        some = shown[:8]
        changed = some.clone()
        changed[:, -1] = ord("~")
        future = (model(some) - model(changed))[:, :-1].abs().max() > 1e-3
    nats = total / wanted.numel()
    likelihood = _likelihood(nats, same / wanted.numel(), bool(future))
    # "likelihood" is what the finding of this measure is called.
    return {"nats": torch.tensor(nats, dtype=torch.float64), "likelihood": likelihood}


def _likelihood(nats: float, same: float, future: bool) -> str:
    """What kind of model it is, in a few words; facts only."""
    if future:
        return "the future moves the present"
    if same > 0.5:
        return "repeats the byte that it sees"
    kinds = (
        (0.9, "writes"),
        (1.6, "knows words"),
        (2.7, "knows which byte follows which"),
        (4.2, "knows how often each byte occurs"),
    )
    return next((kind for most, kind in kinds if nats < most), "knows nothing")
