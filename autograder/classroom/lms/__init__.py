"""From the archives that an LMS gives to nbgrader's ``submitted/``."""
