"""Helpers that the probes of unit 06 share. Lists of texts are sent as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable

import torch

from autograder.checks.exercise import WrongAnswerError
from autograder.checks.probes import describe, join_names, kind


def write_json(value: object, name: str) -> str:
    """Convert an answer to JSON, or raise WrongAnswerError if that is impossible."""
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise WrongAnswerError(
            f"expected {name} to be made of lists, numbers and texts, got "
            f"{describe(value)}"
        ) from error


def read_text(value: object, name: str) -> str:
    """Return a value that is a text; raise WrongAnswerError for other types."""
    if not isinstance(value, str):
        raise WrongAnswerError(f"expected {name} to be a text, got {describe(value)}")
    return value


def describe_kind(value: object) -> str:
    """Return "a list", "a tuple", or the description by `kind` of any other value."""
    if isinstance(value, list | tuple):
        return f"a {'list' if isinstance(value, list) else 'tuple'}"
    return kind(value)


def list_kinds(values: Iterable[object]) -> str:
    """The kinds of several results, each kind once; see `describe_kind`."""
    return join_names(sorted(set(map(describe_kind, values))))


def read_number(value: object, name: str) -> torch.Tensor:
    """Convert a number to a tensor without dimensions, or raise WrongAnswerError."""
    if isinstance(value, torch.Tensor) and value.numel() == 1:
        return value.detach().reshape(()).to(torch.get_default_dtype())
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise WrongAnswerError(f"expected {name} to be a number, got {describe(value)}")
    return torch.tensor(float(value))
