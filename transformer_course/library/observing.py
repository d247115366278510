"""What probes of several units look at."""

from __future__ import annotations

from torch import nn

from autograder.checks.probes import Inputs, Seen


def whole(inputs: Inputs, *names: str) -> tuple[int, ...]:
    """Some of the inputs as Python integers."""
    return tuple(int(str(inputs[n].item())) for n in names)


def read_numbers(module: nn.Module, *names: str) -> Seen:
    """The numbers that a module has as attributes, as text."""
    numbers = {name: str(getattr(module, name, None)) for name in names}
    return {name: value.removesuffix(".0") for name, value in numbers.items()}
