"""The tiny course with a roster, to collect archives in."""

from tests.classroom.lms.conftest import course

__all__ = ["course"]
