"""Shared fixtures: a tiny unit of its own, so that tests do not depend on the course."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
import torch

from autograder.student.exercise import Case, Exercise, Mistake

# nbgrader starts `alembic` by name, which lies beside the interpreter.
os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
torch.set_num_threads(1)


def row(*numbers: float) -> torch.Tensor:
    return torch.tensor(numbers, dtype=torch.float32)


@pytest.fixture
def doubling() -> Exercise:
    """An exercise of two cases, "double each number", with one named mistake."""
    cases = tuple(
        Case(
            name, name, "Is each number twice as large?", {"x": x},
            {"twice": 2 * x}, {"tripled": {"twice": 3 * x}}, hidden=name == "secret",
        )
        for name, x in (("plain", row(1, 2, 3)), ("secret", row(-4, 5, 6)))
    )  # fmt: skip
    mistake = Mistake("tripled", "You tripled with `3 * x`.", "How many are two?")
    return Exercise("tiny/double", "Doubling", 10.0, cases, {"tripled": mistake})
