"""What the probes of unit 01 take of an answer."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import nn

from autograder.checks.exercise import WrongAnswerError
from autograder.checks.probes import describe, tensor


def the_module(value: object) -> nn.Module:
    if not isinstance(value, nn.Module):
        raise WrongAnswerError(f"expected an nn.Module, got {describe(value)}")
    return value


def number(value: object, name: str) -> torch.Tensor:
    """Read a number: a plain Python number, or a tensor without dimensions."""
    if isinstance(value, float | int) and not isinstance(value, bool):
        return torch.tensor(float(value))
    return tensor(value, name)


def gradient(
    name: str, output: torch.Tensor, leaf: torch.Tensor, pull: torch.Tensor
) -> dict[str, torch.Tensor]:
    """Compute the gradient of a weighted sum of the output; zeros where none flows."""
    if output.shape != pull.shape:
        return {}
    grad = None
    if output.requires_grad and leaf.requires_grad:
        (grad,) = torch.autograd.grad(
            (output * pull).sum(), leaf, retain_graph=True, allow_unused=True
        )
    return {f"gradient of {name}": torch.zeros_like(leaf) if grad is None else grad}


def comes_to(call: Callable[[], object]) -> str:
    """What a call comes to, in a word: its value, or the kind of its error.

    A subclass of ValueError is called ValueError.
    """
    try:
        value = call()
    except ValueError:
        return "ValueError"
    except Exception as error:
        return type(error).__name__
    return "no error" if isinstance(value, torch.Tensor) else str(value)
