"""Probes of unit 07, which call a student's answers and report what they do."""

from transformer_course.since_2017.probes import (  # noqa: F401  (they register)
    cache,
    parts,
    training,
)
