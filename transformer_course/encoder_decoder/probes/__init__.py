"""Probes of unit 04, which call a student's answers and report what they do."""

from transformer_course.encoder_decoder.probes import (  # noqa: F401  (they register)
    clinic,
    hooks,
    layers,
    models,
    stacks,
)
