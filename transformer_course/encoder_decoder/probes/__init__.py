"""Probes of unit 04, encoder and decoder."""

from transformer_course.encoder_decoder.probes import (  # noqa: F401  (they register)
    clinic,
    hooks,
    layers,
    models,
    stacks,
)
