"""The small graded class of the classroom's tests, to collect more into."""

from tests.classroom.conftest import graded, graded_once  # noqa: F401
