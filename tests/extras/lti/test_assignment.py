"""Who is who: a key is surer than an address, an address surer than a name."""

import pytest

from autograder.classroom.classbook import Student
from autograder.extras.lti.assignment import LmsMember, rank

ADA = Student("ada", "Ada", "Lovelace", "ada@uni.example", "501")


@pytest.mark.parametrize(
    ("person", "expected"),
    [
        (LmsMember("501", "Somebody Else"), 4),
        (LmsMember("9", "Ada Lovelace", "ada@uni.example", "ada", "ada"), 0),
    ],
)
def test_where_the_roster_has_the_lms_s_key_it_decides(person, expected):
    assert rank(person, ADA, has_lms_ids=True) == expected


@pytest.mark.parametrize(
    ("person", "expected"),
    [
        (LmsMember("x-1", email="Ada@Uni.example"), 3),
        (LmsMember("x-1", "Ada Lovelace", email="al@uni.example", login="ada"), 0),
        (LmsMember("x-1", login="ADA"), 2),
        (LmsMember("x-1", number="ada@uni.example"), 2),
        (LmsMember("x-1", "LOVELACE, Ada"), 0),
        (LmsMember("x-1", "Ada Lovelace"), 1),
        (LmsMember("x-1"), 0),
    ],
)
def test_an_lti_key_is_no_lms_id(person, expected):
    assert rank(person, ADA, has_lms_ids=False) == expected


def test_nobody_is_matched_by_what_neither_has():
    assert rank(LmsMember("1"), Student("2"), has_lms_ids=True) == 0


def test_a_student_without_a_roster_is_called_by_the_lms_s_key():
    assert rank(LmsMember("501"), Student("501"), has_lms_ids=True) == 2
