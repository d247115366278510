"""Probes of unit 01, positional encoding."""

from transformer_course.positional_encoding.probes import (  # noqa: F401  (they register)
    clinic,
    functions,
    modules,
)
