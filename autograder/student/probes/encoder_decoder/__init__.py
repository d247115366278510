"""Probes of unit 04, encoder and decoder."""

from autograder.student.probes.encoder_decoder import (  # noqa: F401  (they register)
    clinic,
    hooks,
    layers,
    models,
    sequences,
)
