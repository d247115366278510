"""Probes of unit 07, since 2017."""

from transformer_course.since_2017.probes import (  # noqa: F401  (they register)
    cache,
    clinic,
    layers,
    parts,
    today,
    training,
    writing,
)
