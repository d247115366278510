"""Who reads which written answers."""

import re

import pytest

from autograder.course.errors import UsageError
from autograder.extras.written.division import (
    Part,
    parse_part,
    pseudonyms,
)


def test_parts_are_of_about_the_same_size_and_each_answer_is_in_one():
    answers = [f"answer {number}" for number in range(300)]
    parts = [Part(number, 3) for number in (1, 2, 3)]
    counts = [sum(part.contains(answer) for answer in answers) for part in parts]
    assert sum(counts) == 300 and min(counts) > 70


@pytest.mark.parametrize("text", ["", "1", "0/2", "3/2", "1 of 2", "-1/2", "1/2/3"])
def test_what_is_no_part_is_refused(text):
    with pytest.raises(UsageError, match="write it like 1/2"):
        parse_part(text)


def test_pseudonyms_are_stable_in_an_assignment_and_differ_between_them(tmp_path):
    students = [f"s{number}" for number in range(200)]
    first = pseudonyms(tmp_path, "01_numbers", students)
    assert first == pseudonyms(tmp_path, "01_numbers", reversed(students))
    assert len(set(first.values())) == 200
    assert all(re.fullmatch("[a-z]{10}", name) for name in first.values())
    second = pseudonyms(tmp_path, "02_words", students)
    assert not set(first.values()) & set(second.values())
    (tmp_path / ".autograder" / "secret").unlink()
    other_course = pseudonyms(tmp_path, "01_numbers", students[:1])
    assert other_course["s0"] != first["s0"], "it depends on the course's secret"
