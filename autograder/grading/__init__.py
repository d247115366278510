"""Grading: the classes with which ``nbgrader_config.py`` sets nbgrader up.

This package is trusted. Students' code runs in sandboxes, in other processes.
"""

import autograder.course  # noqa: F401  (before nbformat: see there)
