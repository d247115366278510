"""Probes of unit 01, which call a student's answers and report what they do."""

from transformer_course.positional_encoding.probes import (  # noqa: F401  (they register)
    clinic,
    functions,
    modules,
)
