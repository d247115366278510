"""Probes of unit 03, multi-head attention."""

from autograder.student.probes.multi_head_attention import (  # noqa: F401  (they register)
    functions,
    modules,
    pytorch,
)
