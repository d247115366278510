"""Properties that an exercise's docstring promises of every call, for all inputs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from autograder.authoring.draw import Draw

# Tensors and texts by name, as `checks.exercise.Value` defines them. The values are
# typed as Any, because the functions that make them compute with them.
Inputs = dict[str, Any]
Maker = Callable[[Draw], Inputs]
# From a Draw to inputs by a label for what is special about them. Until the exercise is
# completed (sizes.py), values may also be InputSizes.
SpecialSizes = Callable[[Draw], dict[str, Any]]

OF_MODULES = (
    "steady", "alone", "spread", "training", "gradient", "loaded", "start"
)  # fmt: skip
USUAL = ("steady", "alone", "spread", "gradient")
OF_ATTENTION = (*OF_MODULES, "closed")  # for modules that compute attention scores
OF_TABLES = ("steady", "alone", "spread")  # for functions without gradients


@dataclass(frozen=True, kw_only=True)
class Contract:
    """How an exercise's object is called, and which properties these calls have.

    Fields that are omitted follow from the exercise's signature, if a case states its
    inputs by sizes.

    Args:
        arguments: in order, ``"x: B L d; mask?: L L | B L L"``: the dimensions of each
            tensor, in each form that is allowed, with the most dimensions last. B is
            the batch, names with L are lengths, and ``?`` marks one that may be None.
        results: the same for results, with one form each.
        on: the kinds of cases on whose inputs the object is called in further ways.
        ways: the names of these ways (`autograder.checks.properties.WAYS`).
        module: whether the object creates a module, which is then called.
        dropout: the kinds of cases on which dropout is tested, and the inputs, by name,
            that set its rate.
        sizes: a function from a Draw to inputs of special sizes, by a label such as
            "one sentence"; or by label the values that differ from those of the first
            case that states its inputs by sizes.
        typed: whether results have the dtype of the inputs, also in float64.
        narrow: whether results also have the dtype of the inputs in bfloat16.
        named: whether a module's parameters have exactly the names that the text gives.
        alone: whether a module's state dict holds nothing but its parameters.
        shown: whether only the first result needs a gradient, because the others are
            there to be looked at.
    """

    arguments: str = ""
    results: str = ""
    on: tuple[str, ...] = ()
    ways: tuple[str, ...] = USUAL
    module: bool = False
    dropout: tuple[tuple[str, ...], Mapping[str, float]] | None = None
    sizes: SpecialSizes | Mapping[str, Mapping[str, Any]] | None = None
    typed: bool | None = None
    narrow: bool = False
    named: bool = False
    alone: bool = False
    shown: bool = False


def special(**kinds: Any) -> SpecialSizes:
    """Make a contract's ``sizes`` from inputs by label; a ``_`` in a label is a space.

    Args:
        kinds: inputs as a case states them: sizes, or a function from a Draw to inputs.
    """

    def draw_all(draw: Draw) -> dict[str, Any]:
        return {
            name.replace("_", " "): kind(draw) if callable(kind) else kind
            for name, kind in kinds.items()
        }

    return draw_all
