"""One submission is graded at once, or it is said why not."""

from __future__ import annotations

import pytest

from autograder.course.errors import CourseError
from autograder.extras.hosted import hosted


def test_a_course_that_cannot_grade_says_why_and_is_no_zero(tmp_path):
    """Here, a course without its nbgrader_config.py."""
    (tmp_path / "a.ipynb").write_text("{}")
    with pytest.raises(CourseError, match=r"nbgrader_config\.py"):
        hosted.grade("01_numbers", tmp_path, tmp_path)


def test_what_cannot_be_taken_is_refused_before_anything_runs(tmp_path):
    course = tmp_path / "course"
    for step in ("source", "release"):
        (course / step / "01_numbers").mkdir(parents=True)
    (course / "nbgrader_config.py").write_text("raise SystemExit('it was run')")
    with pytest.raises(CourseError, match="nowhere"):
        hosted.grade("01_numbers", tmp_path / "nowhere", course)
