"""Probes of unit 06, text recovery."""

from transformer_course.text_recovery.probes import (  # noqa: F401  (they register)
    data,
    decoding,
    model,
    scoring,
)
