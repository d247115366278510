"""Probes of unit 03, multi-head attention."""

from transformer_course.multi_head_attention.probes import (  # noqa: F401  (they register)
    functions,
    modules,
)
