"""What an exercise's docstring promises of every call, whatever the inputs are."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from autograder.authoring.draw import Draw

# Named tensors, or named text, as `checks.exercise.Value` has it; whoever makes them
# knows which is which, and works on them.
Inputs = dict[str, Any]
Maker = Callable[[Draw], Inputs]
# Inputs by what is special about them; Sizes until an exercise is complete.
SpecialSizes = Callable[[Draw], dict[str, Any]]

OF_MODULES = (
    "steady", "alone", "spread", "training", "gradient", "loaded", "start"
)  # fmt: skip
USUAL = ("steady", "alone", "spread", "gradient")
OF_ATTENTION = (*OF_MODULES, "closed")  # of a module that makes its own scores
OF_TABLES = ("steady", "alone", "spread")  # where no gradient is asked for


@dataclass(frozen=True, kw_only=True)
class Contract:
    """How an exercise's object is called, and which properties that call has.

    What is not said follows from the exercise's signature, if a case is by sizes.

    Args:
        arguments: in their order, ``"x: B L d; mask?: L L | B L L"``: the dimensions of
            each tensor, in each form that is allowed, the fullest last. B is the
            batch, names with L are lengths; a question mark: may be None.
        results: the same for what comes back, one form each.
        on: the kinds of cases on whose inputs the object is called in other ways.
        ways: names of these ways (`autograder.checks.properties.WAYS`).
        module: whether the object creates a module, which is then called.
        dropout: kinds of cases, and what their inputs need to hold a rate.
        sizes: from a Draw to inputs by what is special about them ("one sentence"); or,
            by the same, what differs from the sizes of the first case by sizes.
        typed: whether results have the type of the inputs, in float64, too.
        narrow: whether they have it in bfloat16, too.
        named: whether a module's parameters have the names of the text and no others.
        alone: whether its state dict holds nothing else at all.
        shown: whether results but the first are there to look at, without a gradient.
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
    """Inputs, stated as in a case, by what is special about them; ``_`` is a space."""

    def draw_all(draw: Draw) -> dict[str, Any]:
        return {
            name.replace("_", " "): kind(draw) if callable(kind) else kind
            for name, kind in kinds.items()
        }

    return draw_all
