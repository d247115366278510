"""Probes of unit 01, positional encoding."""

from autograder.student.probes.positional_encoding import (  # noqa: F401  (they register)
    clinic,
    drawing,
    functions,
    modules,
)
