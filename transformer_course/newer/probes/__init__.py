"""Probes of unit 10, which call a student's answers and report what they do."""

from transformer_course.newer.probes import (  # noqa: F401  (they register)
    clinic,
    precision,
    today,
)
