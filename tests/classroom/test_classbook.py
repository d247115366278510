"""What waits for a person is no zero, and lateness never goes below it."""

from __future__ import annotations

import pytest

from autograder.classroom import classbook
from autograder.classroom.classbook import Classbook, Item, Student, Submission
from autograder.course.errors import CourseError

ADA = Student("ada", "Ada", "Lovelace")


def test_who_has_no_name_is_called_by_the_id():
    assert (ADA.name, ADA.full) == ("Ada Lovelace", "Ada Lovelace (ada)")
    bare = Student("s17")
    assert (bare.name, bare.full) == ("s17", "s17")
    assert Student("bob", last_name="Ross").name == "Ross"


def test_points_count_as_far_as_they_are_known():
    submission = Submission(ADA, {"a": 4.0, "essay": None, "b": 2.5}, penalty=1.0)
    assert submission.waiting == ("essay",)
    assert submission.graded_points == 6.5 and submission.score is None


@pytest.mark.parametrize(("penalty", "score"), [(0.0, 6.5), (1.5, 5.0), (9.0, 0.0)])
def test_the_penalty_comes_off_and_leaves_no_less_than_nothing(penalty, score):
    assert Submission(ADA, {"a": 4.0, "b": 2.5}, penalty=penalty).score == score


def test_a_unit_is_worth_what_its_items_are():
    items = (Item("a", 4.0), Item("essay", 2.5, written=True))
    assert Classbook("01_numbers", items, ()).max_points == 6.5


@pytest.mark.parametrize("name", ["numbers-double", "double", "1.2", "1.2."])
def test_an_exercise_is_found_by_its_name_and_by_its_number(monkeypatch, name):
    monkeypatch.setattr(
        classbook, "number", lambda unit, exercise: "1.2" * ("double" in exercise)
    )
    items = (Item("numbers-triple", 4.0), Item("numbers-double", 2.0))
    assert Classbook("01_numbers", items, ()).find_exercise(name) == items[1]


def test_a_whole_name_is_clear_and_an_end_that_several_have_is_not():
    items = tuple(Item(name, 1.0) for name in ("mask", "causal-mask", "padding-mask"))
    assert Classbook("01_numbers", items, ()).find_exercise("mask") == items[0]
    with pytest.raises(CourseError, match='"mask" may be causal-mask or padding-mask'):
        Classbook("01_numbers", items[1:], ()).find_exercise("mask")
