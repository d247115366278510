"""No page mixes the points of two builds."""

from __future__ import annotations

import pytest

from autograder.course.errors import CourseError
from autograder.grading.gradebook import other_points
from tests import tiny_course as tiny

NOW = {"numbers-double": 2.0, "numbers-triple": 4.0, "numbers-why": 4.0}


def test_points_are_those_of_graded_cells_by_name():
    source = tiny.source_notebook()
    assert other_points.points_in(tiny.UNIT, tiny.UNIT, source) == NOW
    assert "b/numbers-why" in other_points.points_in(tiny.UNIT, "b", source)


@pytest.mark.parametrize("graded", [{**NOW, "numbers-why": 5.0}, {"other": 1.0}])
def test_a_result_with_other_points_is_refused(graded):
    with pytest.raises(CourseError, match="ada was graded when 01_numbers had other"):
        other_points.refuse_mixture(tiny.UNIT, "ada", NOW, graded)


def test_a_result_of_today_is_taken_and_so_is_none():
    other_points.refuse_mixture(tiny.UNIT, "ada", NOW, NOW)
    other_points.refuse_mixture(tiny.UNIT, "ada", NOW, {})
