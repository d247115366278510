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
    """How an exercise's object is called, and which properties hold for all calls.

    Fields left out usually follow from the exercise's signature.

    Args:
        arguments: the arguments in order, with the dimensions of their tensors:
            ``"x: B L d; mask?: L L | B L L"``. ``|`` separates allowed shapes, the
            one with most dimensions last. B is the batch, names that begin with L
            are lengths, and ``?`` marks an argument that may be None.
        results: the results in the same notation, with one shape each.
        on: the kinds of cases whose inputs are used to test properties.
        ways: the ways to call the object that test them, keys of
            `autograder.checks.properties.WAYS`.
        module: whether the object creates a module, which is then called.
        dropout: the kinds of cases on which dropout is tested; and, by name, the
            values of the inputs that set its rate.
        sizes: inputs of special sizes by label, as a function from `special_sizes`
            or as changes to the first sizes that a case states.
        typed: whether results must have the dtype of the inputs, also in float64.
        narrow: whether results must keep the dtype of bfloat16 inputs as well.
        named: whether a module may have only the parameters that the task names.
        alone: whether a module's state dict may hold nothing but these parameters.
        shown: whether gradients are tested for the first result only, since the
            others are just shown, like attention weights.
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


def special_sizes(**inputs: Any) -> SpecialSizes:
    """Make the ``sizes`` of a `Contract`: inputs of special sizes, by label.

    ``special_sizes(one_row=sizes(B=1, L=5))`` labels inputs "one row". A function
    that draws the inputs may replace the sizes.
    """

    def draw_all(draw: Draw) -> dict[str, Any]:
        return {
            name.replace("_", " "): value(draw) if callable(value) else value
            for name, value in inputs.items()
        }

    return draw_all
