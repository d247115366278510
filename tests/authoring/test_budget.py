"""A unit's first cell says how long it takes, and its cells prove it."""

from __future__ import annotations

import pytest

from autograder.authoring.budget import hours, reading, refuse_wrong
from autograder.authoring.notebook import Cell, read
from autograder.course import units
from autograder.course.errors import CourseError

EXERCISE = """### Exercise {0} - do it

*time ~{1} min · difficulty 2/5 · 5 points*
<details><summary>Hint 1</summary> these words are not counted </details>
"""


def notebook(head, *minutes):
    """A head, 6,000 words to read (half an hour), and exercises of so many minutes."""
    texts = [EXERCISE.format(f"9.{n}", m) for n, m in enumerate(minutes, 1)]
    cells = [head, "word " * 6000, *texts]
    return [Cell("markdown", text, f"n.py:{n}") for n, text in enumerate(cells)]


def test_the_sum_of_reading_and_exercises_is_accepted():
    head = "*About 2½ hours · short path about 1½: exercises 9.1, 9.3*"
    refuse_wrong(notebook(head, 40, 60, 20))


@pytest.mark.parametrize(
    ("head", "says"),
    [
        ("*About 3 hours · short path about 1: exercises 9.1*", "add up to 2½, and 1"),
        ("*About 2½ hours · short path about 2: exercises 9.1*", "and 1 for the short"),
        ("*About 2½ hours · short path about 1: exercises 9.7*", "no exercise 9.7"),
        ("*About 2½ hours*", "should say"),
    ],
)
def test_another_time_is_refused_with_what_is_true(head, says):
    with pytest.raises(CourseError, match=says):
        refuse_wrong(notebook(head, 40, 60, 20))


def test_an_exercise_without_a_time_is_named():
    cells = notebook("*About 1 hours · short path about 1: exercises 9.1*", 20)
    cells.append(Cell("markdown", "### Exercise 9.2 - no time", "n.py:9"))
    with pytest.raises(CourseError, match=r"n\.py:9: exercise 9\.2 states no time"):
        refuse_wrong(cells)


@pytest.mark.parametrize(
    ("minutes", "text"), [(20, "½"), (60, "1"), (74, "1"), (80, "1½"), (290, "5")]
)
def test_hours_are_rounded_to_halves(minutes, text):
    assert hours(minutes) == text


@pytest.mark.parametrize("unit", units(), ids=lambda unit: unit.label)
def test_every_unit_states_its_time(unit):
    cells = read(unit)
    refuse_wrong(cells)
    assert reading(cells) > 10
