"""Probes of unit 06, which call a student's answers and report what they do."""

from transformer_course.text_recovery.probes import (  # noqa: F401  (they register)
    data,
    decoding,
    model,
    scoring,
)
