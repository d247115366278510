"""Grading: the classes that nbgrader is set up with. Trusted; runs no student code."""

import autograder.course  # noqa: F401  (before nbformat: see there)
