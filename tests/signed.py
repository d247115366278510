"""Exercises whose stubs state shapes, for tests of what follows from them."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

from autograder.authoring.sizes import complete
from autograder.authoring.specification import Specification
from autograder.authoring.variants import run_source

IMPORTS = """\
import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

"""
SCALE = '''\
def scale(
    x: Float[Tensor, "B L d"], factor: int, mask: Bool[Tensor, "B L"] | None = None
) -> Float[Tensor, "B L d"]:
    """x times a factor, 0 where the mask is False."""
    return factor * x if mask is None else factor * x * mask.unsqueeze(-1)
'''
NORM = '''\
class Norm(nn.Module):
    """A vector divided by its length, times a weight."""

    def __init__(self, d_model: int, eps: float = 1e-6):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(d_model))
        self.eps = eps

    def forward(
        self, x: Float[Tensor, "B L d_model"]
    ) -> Float[Tensor, "B L d_model"]:
        return x / (x.norm(dim=-1, keepdim=True) + self.eps) * self.weight
'''


def sign(monkeypatch: Any, source: str, target: str, **fields: Any) -> Specification:
    """An exercise of a unit ``tiny`` with this solution, and what follows from it."""
    solutions = ModuleType("transformer_course.solutions.tiny")
    run_source(IMPORTS, vars(solutions), "<imports of tiny>")
    solutions.__file__ = f"<solution of {target}>"  # where a class has its source
    run_source(source, vars(solutions), solutions.__file__)
    monkeypatch.setitem(sys.modules, solutions.__name__, solutions)
    name = f"tiny/{target.lower()}"
    return complete(Specification(name=name, target=target, **fields))
