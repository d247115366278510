"""Probes of unit 05, sequence reversal."""

from transformer_course.sequence_reversal.probes import (  # noqa: F401  (they register)
    decoding,
    sequences,
    trained,
    training,
    writing,
)
