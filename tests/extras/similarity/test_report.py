"""The class report lists similar pairs, in words that lead nowhere else."""

from autograder.classroom.gradebook import read
from autograder.extras.similarity import report
from autograder.extras.similarity.similarity import Alike, Comparison, Pair
from tests.tiny_course import UNIT


def test_a_pair_is_shown_with_the_students_names():
    pair = Pair("x", "<b>", 0.9, 50, (Alike("a", 1.0),), True)
    section = report.as_section("01_unit", Comparison((pair,), 1, 0.1), {"x": "Ada"})
    assert "Ada (x), &lt;b&gt;" in section.html and "90%" in section.html
    assert "the same" in section.html and "more</p>" not in section.html


def test_a_class_without_such_pairs_is_said_to_have_none(graded):
    section = report.section(read(UNIT, graded), graded)
    assert "No two solutions are strikingly alike." in section.html
