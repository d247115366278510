"""Probes of unit 06, text recovery."""

from autograder.units.text_recovery.probes import (  # noqa: F401  (they register)
    data,
    decoding,
    model,
    scoring,
    training,
)
