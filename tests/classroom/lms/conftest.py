"""A course to collect into, and the small graded class of the classroom's tests."""

import pytest

from tests.classroom.conftest import graded, graded_once  # noqa: F401
from tests.classroom.lms.course import Course


@pytest.fixture
def course(tmp_path):
    """The tiny course with a roster, to make archives for and collect them in."""
    return Course(tmp_path)
