"""What students wrote is read by exercise, and their own cells with it."""

import pytest

from autograder.classroom import answers
from autograder.course.errors import CourseError
from tests.classroom.conftest import WHOLE
from tests.tiny_course import UNIT


def test_each_answer_is_found_by_student_and_exercise(graded):
    codes = answers.read(UNIT, graded)
    assert codes["bob"]["numbers-double"] == "def double(x):\n    return x"
    assert codes[WHOLE].keys() == codes["bob"].keys() and "never" not in codes


def test_a_class_of_which_nothing_is_graded_is_said_to_be_so(tmp_path):
    with pytest.raises(CourseError, match="nothing is graded yet"):
        answers.read(UNIT, tmp_path)
