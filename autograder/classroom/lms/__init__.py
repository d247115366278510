"""Collect submissions from an LMS's archives into nbgrader's ``submitted/``."""
