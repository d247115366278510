"""Probes of unit 06, text recovery."""

from autograder.student.probes.text_recovery import (  # noqa: F401  (they register)
    data,
    decoding,
    model,
    scoring,
    training,
)
