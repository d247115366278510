"""Probes of unit 03, which call a student's answers and report what they do."""

from transformer_course.multi_head_attention.probes import (  # noqa: F401  (they register)
    functions,
    modules,
)
