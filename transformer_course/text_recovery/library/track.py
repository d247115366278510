"""The track of a handed-in model: its corpus, the level, and how it is decoded.

It is stored in the notes of the model's file.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from transformer_course.library.checkpoint import CheckpointError
from transformer_course.library.pipeline import LEVELS

EMBEDDED, OWN = "embedded", "own"
WIDEST, STEEPEST = 10, 2.0


@dataclass(frozen=True)
class Track:
    """A corpus, a level of damage from 1 to 3, and a way to decode.

    Args:
        beam: the number of hypotheses that a beam search keeps; 1 is greedy.
        alpha: the power of the length by which log-probabilities are divided.
    """

    corpus: str = EMBEDDED
    level: int = 2
    beam: int = 1
    alpha: float = 1.0

    @property
    def is_as_shipped(self) -> bool:
        """Whether corpus and level are those of the shipped checkpoint."""
        return self == Track(beam=self.beam, alpha=self.alpha)

    def __post_init__(self) -> None:
        """Raise CheckpointError for an invalid field; the file is untrusted."""
        # `isinstance` would accept True as an integer.
        for name, value, is_valid in (
            ("corpus", self.corpus, self.corpus in (EMBEDDED, OWN)),
            ("level", self.level, type(self.level) is int and self.level in LEVELS),
            ("beam", self.beam, type(self.beam) is int and 1 <= self.beam <= WIDEST),
            ("alpha", self.alpha, _is_power(self.alpha)),
        ):
            if not is_valid:
                raise CheckpointError(f"the file says {name} {value!r:.40}")


def _is_power(value: object) -> bool:
    return type(value) in (int, float) and 0 <= value <= STEEPEST  # type: ignore[operator]


def of(notes: Mapping[str, Any]) -> Track:
    """Read the track in a checkpoint's notes; without one, the default `Track`.

    Raises:
        CheckpointError: the notes do not contain a valid track.
    """
    fields = notes.get("track", {})
    if (
        not isinstance(fields, dict)
        or fields.keys() - Track.__dataclass_fields__.keys()
    ):
        raise CheckpointError(f"the file says track {fields!r:.80}")
    return Track(**fields)
