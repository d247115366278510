"""Probes of unit 05, sequence reversal."""

from autograder.student.probes.sequence_reversal import (  # noqa: F401  (they register)
    attending,
    decoding,
    sequences,
    trained,
    training,
    writing,
)
