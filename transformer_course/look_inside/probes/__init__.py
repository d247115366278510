"""Probes of unit 09, which call a student's answers and report what they do."""

from transformer_course.look_inside.probes import (  # noqa: F401  (they register)
    clinic,
    hooks,
)
