"""Probes of unit 05, which call a student's answers and report what they do."""

from transformer_course.sequence_reversal.probes import (  # noqa: F401  (they register)
    decoding,
    sequences,
    trained,
    training,
    writing,
)
