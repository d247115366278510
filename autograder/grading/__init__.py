"""Grading: the classes that nbgrader is set up with.

This package is trusted. Students' code runs in sandboxes, in processes of their own.
"""

import autograder.course  # noqa: F401  (before nbformat: see there)
