"""The course that is attacked: made once, copied for each run."""

from __future__ import annotations

import pytest

from tests.attacks.course import Course
from tests.attacks.material import COMPANIONS


@pytest.fixture(scope="session")
def pristine(tmp_path_factory) -> Course:
    """The course before anybody handed in."""
    root = tmp_path_factory.mktemp("attacked") / "course"
    return Course.make(root)


@pytest.fixture(scope="session")
def undisturbed(pristine, tmp_path_factory) -> str:
    """The feedback of a companion when nobody attacks."""
    course = pristine.copy_to(tmp_path_factory.mktemp("peace") / "course")
    course.hand_in_companions()
    traces = course.grade()
    assert course.status == 0, course.log
    assert traces.told() == []
    pages = {course.nameless_feedback(student) for student in COMPANIONS}
    assert len(pages) == 1
    return pages.pop()
