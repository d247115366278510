"""Probes of unit 09, look inside."""

from transformer_course.look_inside.probes import (  # noqa: F401  (they register)
    clinic,
    hooks,
)
