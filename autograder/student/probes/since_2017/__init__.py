"""Probes of unit 07, since 2017."""

from autograder.student.probes.since_2017 import (  # noqa: F401  (they register)
    cache,
    clinic,
    layers,
    parts,
    training,
    writing,
)
