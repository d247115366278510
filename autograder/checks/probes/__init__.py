"""Probes: a few lines each that call a student's object and report what it did.

A probe runs beside the student's code, so it knows no answers, and never
judges: its caller compares the named tensors and texts with the reference. What
it would need to know, it asks the interactor (`autograder.checks.interactor`).
"""

from __future__ import annotations

import importlib
import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from numbers import Real
from typing import Any, TypeVar

import torch

from autograder.checks.exercise import Answers, WrongAnswerError, plain
from autograder.checks.interactor import Ask, Interactor, make_ask, reply
from autograder.root import PACKAGE

Inputs = Mapping[str, Any]  # of a case; each exercise knows the types of its own inputs
Seen = dict[str, Any]  # what a probe observed, by name
Near = TypeVar("Near", bound=Callable[..., Mapping[str, object]])

Report = Callable[[Any, Inputs], Mapping[str, object]]


@dataclass(frozen=True)
class Probe:
    """Tries a student's object and reports what it does, in the object's process.

    Args:
        near: the student's side, called as ``near(object, inputs)``, or with
            ``ask`` as a third argument if there is an interactor.
        interactor: the judge's side: answers questions, and concludes.
        in_notebook: reports in a notebook instead, where one process plays both
            sides.
        reports: the names of all reported answers, by aspect; see `probe`.
    """

    near: Callable[..., Mapping[str, object]]
    interactor: type[Interactor] = Interactor
    in_notebook: Report | None = None
    # Not in the repr, because the names of a bug clinic's answers give the bugs away.
    reports: Mapping[str, tuple[str, ...]] = field(default_factory=dict, repr=False)

    def __call__(self, answer: object, inputs: Answers) -> Mapping[str, object]:
        """Call a student's object on a case's inputs, and return the results by name.

        In a notebook, one process does what grading divides between the sandbox, which
        calls the object, and the judge, which answers its questions.
        """
        if self.in_notebook:
            return self.in_notebook(answer, inputs)
        if not self.is_two_sided:
            return self.near(answer, inputs)
        side = self.interactor(inputs, random.Random(0))
        ask = make_ask(lambda question: reply(side, question))
        report = self.play(answer, side.reveal_inputs(), ask)
        return side.conclude({name: plain(value) for name, value in report.items()})

    def play(self, answer: object, inputs: Answers, ask: Ask) -> Mapping[str, object]:
        """Try an object in the student's process.

        ``inputs`` are those that the student's side may see. ``ask`` sends a question
        to the judge, and returns the answer.
        """
        if self.is_two_sided:
            return self.near(answer, inputs, ask)
        return self.near(answer, inputs)

    def aspect(self, name: str) -> str:
        """Return the aspect that the answer of this name is declared to count for.

        "results" stands for the aspect of the answer's case.

        Raises:
            LookupError: the name is declared for no aspect, or for several.
        """
        exact = [aspect for aspect, names in self.reports.items() if name in names]
        matches = exact or [
            aspect
            for aspect, names in self.reports.items()
            if any(fnmatchcase(name, pattern) for pattern in names)
        ]
        if len(matches) != 1:
            many = f"as {' and as '.join(matches)}" if matches else "for no aspect"
            raise LookupError(f"{name!r} is declared {many}")
        return matches[0]

    @property
    def is_two_sided(self) -> bool:
        return self.interactor is not Interactor


class Log(list[Any]):
    """A list in which a model records what happens while a probe tries it.

    A deep copy of the model, which the student's code may make, shares the list.
    """

    def __deepcopy__(self, memo: dict[int, Any]) -> Log:
        return self


OWN = "results"  # answers that count for the aspect of their case, whatever it is
_PROBES: dict[str, Probe] = {}


def probe(
    name: str,
    interactor: type[Interactor] = Interactor,
    in_notebook: Report | None = None,
    *,
    results: str,
    form: str = "",
    calls: str = "",
    gradients: str = "",
    learning: str = "",
    mode: str = "",
    limits: str = "",
    errors: str = "",
    parts: Mapping[str, str] | None = None,
) -> Callable[[Near], Near]:
    """Register an exercise's probe, and declare for which aspects its answers count.

    All names that the probe reports must be declared, in full or as patterns like
    ``"scores; gradient of *"``.

    Args:
        name: the exercise.
        results: the answers that count for the aspect of their case.
        form, calls, gradients, learning, mode, limits, errors: the answers that
            count for these aspects instead (see prices.PRICES).
        parts: the results that count for aspects of the exercise's own, by aspect.
    """
    declared = {
        OWN: results, "form": form, "calls": calls, "gradients": gradients,
        "learning": learning, "mode": mode, "limits": limits, "errors": errors,
        **(parts or {}),
    }  # fmt: skip
    reports = {
        aspect: tuple(names.split("; ")) for aspect, names in declared.items() if names
    }

    def register(function: Near) -> Near:
        _PROBES[name] = Probe(function, interactor, in_notebook, reports)
        return function

    return register


def find(name: str) -> Probe:
    """The probe of the exercise ``unit/name``; the default probe if it has none.

    A unit whose exercises all use the default probe has no package ``probes``.
    """
    package = f"{PACKAGE}.{name.split('/')[0]}.probes"
    try:
        importlib.import_module(package)
    except ModuleNotFoundError as error:
        # Only the package itself may be missing, not a module that it imports.
        if not f"{package}.".startswith(f"{error.name}."):
            raise
    if name in _PROBES:
        return _PROBES[name]
    usual: Probe = importlib.import_module(f"{__name__}.default").DEFAULT
    return usual


def select_by_prefix(inputs: Inputs, prefix: str) -> Seen:
    """Select the inputs whose names begin with a prefix, and drop it from the names."""
    return {
        name.removeprefix(prefix): value
        for name, value in inputs.items()
        if name.startswith(prefix)
    }


def join_names(names: Iterable[str]) -> str:
    """Join names in a line; "none" if there are none."""
    return ", ".join(names) or "none"


def returned(result: object, *names: str) -> tuple[Any, ...]:
    """Return a tuple of results, one for each of these names.

    Raises:
        WrongAnswerError: the result is no tuple or list of this size.
    """
    if not isinstance(result, tuple | list) or len(result) != len(names):
        wanted = ", ".join(names)
        raise WrongAnswerError(f"expected a tuple ({wanted}), got {describe(result)}")
    return tuple(result)


def tensor(value: object, name: str) -> torch.Tensor:
    """Return a tensor, copied to the CPU if it is on another device (except "meta").

    Raises:
        WrongAnswerError: it is not a tensor; the message calls it ``name``.
    """
    if not isinstance(value, torch.Tensor):
        raise WrongAnswerError(f"expected {name} to be a tensor, got {describe(value)}")
    return value if value.device.type in ("cpu", "meta") else value.to("cpu")


def describe(value: object) -> str:
    """A value in a few words: its type and, for tensors and tuples, its shape."""
    if value is None:
        return "None (is a return statement missing?)"
    if isinstance(value, torch.Tensor):
        return f"one tensor of shape {tuple(value.shape)}"
    if isinstance(value, tuple | list):
        return f"a {type(value).__name__} of {len(value)}"
    return f"a {type(value).__name__}"


def kind(value: object, promised: type = Real) -> str:
    """Name a value's type: "a number" or "a float" if it is as ``promised``.

    A bool counts as neither.
    """
    if isinstance(value, promised) and not isinstance(value, bool):
        return "a float" if promised is float else "a number"  # NumPy's are Real
    return describe(value)


def outcome(call: Callable[[], object], promised: type[Exception]) -> str:
    """The name of the error that a call raises, or "no error".

    A subclass of the promised error counts as that error.
    """
    try:
        call()
    except promised:
        return promised.__name__
    except Exception as error:
        return type(error).__name__
    return "no error"


def seed(number: int) -> None:
    """Seed the CPU's generator, with which probes draw their numbers.

    This is much faster than `torch.manual_seed`, which seeds all devices.
    """
    torch.default_generator.manual_seed(number)


def gradients(
    function: Callable[..., torch.Tensor], tensors: Sequence[torch.Tensor],
    names: Sequence[str], inputs: Inputs,
) -> Seen:  # fmt: skip
    """Gradients of a result with respect to the tensors it is computed from, by name.

    The result is weighted with ``inputs["pull"]`` and summed; without that input, no
    gradients are reported. A tensor without a path to the result has gradient zero.
    """
    if "pull" not in inputs:
        return {}
    leaves = [value.clone().requires_grad_() for value in tensors]
    # Copies, since changing a leaf in place is an error; such changes show elsewhere.
    result = function(*(leaf.clone() for leaf in leaves))
    pulled = torch.zeros(())
    if result.requires_grad and result.shape == inputs["pull"].shape:
        pulled = (result * inputs["pull"]).sum()
    return take_gradients(pulled, dict(zip(names, leaves, strict=True)))


def take_gradients(number: torch.Tensor, leaves: Mapping[str, torch.Tensor]) -> Seen:
    """Map "gradient of NAME" to a number's gradient for each leaf, or to zeros."""
    learning = {n: leaf for n, leaf in leaves.items() if leaf.requires_grad}
    grads: Seen = {}
    if number.requires_grad and learning:
        wanted = [*learning.values()]
        values = torch.autograd.grad(number, wanted, materialize_grads=True)
        grads = dict(zip(learning, values, strict=True))
    return {
        f"gradient of {name}": (
            grads[name] if name in grads else torch.zeros_like(leaf)
        )
        for name, leaf in leaves.items()
    }
