"""What tests of unit 05's solutions share: models, fresh sequences, given functions."""

from __future__ import annotations

import functools
import random
import re
from collections.abc import Iterator
from typing import Any

from torch import nn

from autograder.authoring.notebook import read
from autograder.course import find_unit
from autograder.solutions import sequence_reversal as unit


def score(model: nn.Module, sequences: list[list[int]]) -> float:
    source, target = unit.make_batch(sequences)
    decoded = unit.greedy_decode(model, source, source.size(1))
    return unit.exact_match(decoded, target[:, 1:])


@functools.cache
def trained(seed: int) -> nn.Module:
    """The reference of one seed."""
    return unit.trained_model(seed)


def fresh(seed: int, count: int = 2000) -> list[list[int]]:
    return unit.random_sequences(count, random.Random(f"fresh {seed}"))


def given(*names: str) -> Iterator[Any]:
    """Functions and classes of the notebook that are given, not asked for."""
    namespace = dict(vars(unit)) | {"demo": lambda f: f}
    cells = [cell.text for cell in read(find_unit("sequence_reversal"))]
    for name in names:
        exec(
            next(t for t in cells if re.search(rf"(def|class) {name}\b", t)), namespace
        )
    return (namespace[name] for name in names)
