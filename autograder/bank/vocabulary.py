"""How a unit's exercises are written down: Task, Setting, Wrong, Right, Draw."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import torch

from autograder.student.exercise import Answers, Value


class Draw:
    """Reproducible inputs: whole multiples of 1/64, exact in float32 on every platform.

    torch's own generators give other last digits on other processors; numpy's integers
    do not, so references are byte-identical wherever they are built.
    """

    def __init__(self, seed: int | str):
        self._rng = np.random.default_rng(_entropy(seed))

    def tensor(self, *shape: int, scale: float = 2.0) -> torch.Tensor:
        """float32 numbers between -scale and scale, of either sign."""
        top = int(64 * scale)
        grid = self._rng.integers(-top, top + 1, size=shape)
        return torch.tensor(grid / 64, dtype=torch.float32)

    def ids(self, low: int, high: int, *shape: int) -> torch.Tensor:
        """int64 numbers from low (included) to high (excluded)."""
        return torch.tensor(self._rng.integers(low, high, size=shape))

    def flags(self, *shape: int, chance: float = 0.6) -> torch.Tensor:
        """Booleans that are True with the given chance."""
        return torch.tensor(self._rng.random(size=shape) < chance)

    def weights(self, **shapes: tuple[int, ...]) -> dict[str, torch.Tensor]:
        """Parameters as inputs: ``weights(**{"w_q.weight": (6, 5)})``."""
        return {
            f"weights.{name}": self.tensor(*shape, scale=1.0)
            for name, shape in shapes.items()
        }


def _entropy(seed: int | str) -> list[int]:
    return list(str(seed).encode())


@dataclass(frozen=True)
class Setting:
    """A kind of inputs. ``inputs(draw)`` draws them; each drawing gives one Case.

    Args:
        name: identifier, unique in the exercise.
        title: what is tried, as the student reads it ("a causal mask").
        inputs: from a Draw to named inputs (tensors or text).
        hint: what it usually means when this fails, shown if no mistake is recognised.
        hidden_only: never shown to students, not even its drawing.
        picture: "auto", or "curves" for quantities that run along rows.
        measure, scale: for answers that are better or worse (see measures/): the
            measure's name, and (value, share of the points) in rising order.
        known: from an equal Draw to the expected answers, where the setting's inputs
            were made from them, so that no solution has to find them.
    """

    name: str
    title: str
    inputs: Callable[[Draw], Mapping[str, Value]]
    hint: str
    hidden_only: bool = False
    atol: float = 1e-5
    rtol: float = 1e-4
    picture: str = "auto"
    measure: str = ""
    scale: tuple[tuple[float, float], ...] = ()
    known: Callable[[Draw], Answers] | None = None


@dataclass(frozen=True)
class Wrong:
    """A wrong variant: the solution with one edit, or a source of its own.

    A variant with ``says`` and ``asks`` defines the named mistake ``name``; one with
    ``like`` is another way to make the mistake of that name, and must be named so.

    Args:
        edits: pairs (old, new); ``old`` must occur exactly once in the solution.
        source: full code in place of edits; sees the unit's imports and names.
    """

    name: str
    says: str = ""
    asks: str = ""
    edits: tuple[tuple[str, str], ...] = ()
    source: str = ""
    like: str = ""


@dataclass(frozen=True)
class Right:
    """A correct solution in another style; it must get every point."""

    name: str
    source: str = ""
    edits: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Task:
    """An exercise as its author writes it; points stand in the notebook's check cell.

    Args:
        name: "unit/exercise", also the grade id and the key of its references.
        title: what is built, in a few words.
        target: the name that the student's cell defines and the check is given.
        precise: compute the reference in float64 (off where inputs are not numbers).
        reference: the object that gives the expected answers, if it is not the
            notebook's solution (a trained model is neither exact nor portable).
        files: what is handed in beside the notebook: its name there, and the
            instructor's own.
    """

    name: str
    title: str
    target: str
    settings: tuple[Setting, ...]
    wrong: tuple[Wrong, ...]
    right: tuple[Right, ...]
    precise: bool = True
    reference: object = None
    files: Mapping[str, Path] = field(default_factory=dict)
