"""Grading: what nbgrader is configured with. Trusted; runs no student code."""
