"""Probes of unit 10, newer and faster."""

from transformer_course.newer.probes import (  # noqa: F401  (they register)
    clinic,
    precision,
    today,
)
