"""Grading: what nbgrader is configured with. Trusted; runs no student code."""

import autograder.course  # noqa: F401  (before nbformat: see there)
