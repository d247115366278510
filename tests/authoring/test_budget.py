"""A unit's first cell says how long it takes, and its cells prove it."""

from __future__ import annotations

import pytest

from autograder.authoring.budget import (
    estimate,
    hours,
    numbers,
    question_minutes,
    reading_minutes,
    refuse_wrong,
    stated_minutes,
)
from autograder.authoring.notebook import Cell, read
from autograder.course import manifest, units
from autograder.course.errors import CourseError

EXERCISE = """## {0}
### Exercise {0} - do it

*time ~{1} min · difficulty 2/5 · 5 points*
<details><summary>Hint 1</summary> these words are not counted </details>
"""
PLACE = "n/unit.toml:3"
NAMES = ("n/first", "n/second", "n/third")


def notebook(head, *minutes):
    """A head, 3,900 words to read (half an hour), and exercises of so many minutes."""
    cells = [Cell("markdown", text, "n.py:1") for text in (head, "word " * 3900)]
    for n, (name, time) in enumerate(zip(NAMES, minutes, strict=False), 1):
        cells.append(Cell("markdown", EXERCISE.format(f"9.{n}", time), f"n.py:{n}"))
        cells.append(Cell("code", "...", f"n.py:{n}", "exercise", name))
    return cells


def test_the_sum_of_reading_and_exercises_is_accepted():
    head = "*About 2½ hours · short path about 1½: exercises 9.1,\n9.3*"
    refuse_wrong(notebook(head, 40, 60, 20), ["n/first", "n/third"], PLACE)


def test_a_small_unit_needs_no_short_path():
    refuse_wrong(notebook("*About 1 hour*", 30), [], PLACE)


def test_nobody_is_asked_to_read_what_is_folded():
    folded = Cell("code", "# @title Train\n" + "word " * 6000, "n.py:1", folded=True)
    assert reading_minutes([folded]) == 0


@pytest.mark.parametrize(
    ("head", "message"),
    [
        ("*About 3 hours · short path about 1: exercises 9.1*", '"About 2½ hours · sh'),
        ("*About 2½ hours · short path about 2: exercises 9.1*", "short path about 1:"),
        ("*About 2½ hours · short path about 1: exercises 9.2*", "1: exercises 9.1"),
        ("*About 2½ hours*", "should say"),
        ("*Some time*", "should say"),
    ],
)
def test_another_time_or_path_is_refused_with_what_is_true(head, message):
    with pytest.raises(CourseError, match=message):
        refuse_wrong(notebook(head, 40, 60, 20), ["n/first"], PLACE)


@pytest.mark.parametrize(
    ("path", "message"),
    [
        (["n/second"], "take 80 minutes; a short path takes at most half of 140"),
        (["n/fourth"], "there is no exercise n/fourth"),
    ],
)
def test_a_short_path_that_is_none_is_refused(path, message):
    with pytest.raises(CourseError, match=message):
        refuse_wrong(notebook("*About 2½ hours*", 40, 80, 20), path, PLACE)


def test_given_code_is_read_more_slowly_than_text():
    code = Cell("code", "x = 1\n\n" * 40, "n.py:1")
    assert reading_minutes([Cell("markdown", "word " * 130, "n.py:1"), code]) == 1 + 2
    assert (
        reading_minutes([Cell("code", "x = 1\n" * 40, "n.py:1", "exercise", "n/a")])
        == 0
    )


def test_a_question_takes_the_time_that_its_text_states_or_goes_by_its_points():
    cells = [
        Cell("markdown", "Why? (4 points, time ~30 min)", "n.py:1"),
        Cell("markdown", "", "n.py:2", "written", "n/why", 4.0),
        Cell("markdown", "How? (4 points)", "n.py:3"),
        Cell("markdown", "", "n.py:4", "written", "n/how", 4.0),
    ]
    assert list(question_minutes(cells)) == [30, 12]


def test_an_exercise_without_a_time_is_named():
    cells = notebook("*About 1 hour*", 20)
    cells.append(Cell("markdown", "### Exercise 9.2 - no time", "n.py:9"))
    with pytest.raises(CourseError, match=r"n\.py:10: exercise 9\.2 states no time"):
        refuse_wrong(cells, [], PLACE)


def test_an_exercise_takes_reading_twice_thinking_by_difficulty_and_typing():
    text = EXERCISE.format("9.1", 1) + "word " * 639  # 650 words: ten minutes
    code = "def f(x):\n    ### BEGIN SOLUTION\n" + "    x = 1\n\n" * 20
    cells = [
        Cell("markdown", "word " * 500, "n.py:1"),
        Cell("markdown", text, "n.py:1"),
        Cell("code", code + "    ### END SOLUTION\n", "n.py:2", "exercise", "n/first"),
    ]
    assert estimate(cells) == {"9.1": 30}  # 10 + 7 + 11 = 28, and steps are of five


@pytest.mark.parametrize("unit", units(), ids=lambda unit: unit.label)
def test_every_exercise_states_the_minutes_of_the_formula(unit):
    cells = read(unit)
    assert stated_minutes(cells) == estimate(cells)


@pytest.mark.parametrize(
    ("minutes", "text"), [(20, "½"), (60, "1"), (74, "1"), (80, "1½"), (290, "5")]
)
def test_hours_are_rounded_to_halves(minutes, text):
    assert hours(minutes) == text


@pytest.mark.parametrize("unit", units(), ids=lambda unit: unit.label)
def test_every_unit_states_its_time_and_its_short_path(unit):
    cells, path = read(unit), manifest.path_of(unit)
    refuse_wrong(cells, path, PLACE)
    assert set(path) < set(numbers(cells))
