"""Probes of unit 07, a modern language model."""

from transformer_course.since_2017.probes import (  # noqa: F401  (they register)
    cache,
    parts,
    training,
)
