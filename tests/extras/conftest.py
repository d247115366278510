"""Courses as the core's tests have them: one graded, one of which nothing is."""

from tests.classroom.conftest import graded, graded_once
from tests.cli.conftest import course

__all__ = ["course", "graded", "graded_once"]
