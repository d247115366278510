"""The build notices numbers in the text that are no longer true."""

from __future__ import annotations

import pytest

from autograder.authoring.notebook import Cell
from autograder.authoring.numbers import refuse_stale, refuse_untitled, titles
from autograder.course.errors import CourseError


def notebook(head="", heading="", question=""):
    """Two checks of 5 points and an answer of 4, with what the text says of them."""
    texts = [
        Cell("markdown", f"# Numbers\n\n{head}", "n.py:1"),
        Cell("code", "import math", "n.py:9"),
        Cell("markdown", f"## Doubling\n\n{heading}", "n.py:20"),
        Cell("code", "...", "n.py:30", "exercise", "n/double"),
        Cell("code", "...", "n.py:40", "check", "n/double", 5.0),
        Cell("code", "...", "n.py:50", "check", "n/triple", 5.0),
        Cell("markdown", question, "n.py:60"),
        Cell("markdown", "...", "n.py:70", "written", "n/why", 4.0),
    ]
    return texts


@pytest.mark.parametrize(
    "text",
    [
        {},
        {"head": "two exercises, one written question, 100 points"},
        {"head": "2 exercises and other exercises"},
        {"heading": "*time ~5 min · 5 points*"},
        {"heading": "A triangle has 3 points. *5 points*"},
        {"question": "Question (4 points). 1 point for the idea, 3 points for why."},
    ],
)
def test_what_is_true_or_not_said_is_built(text):
    refuse_stale(notebook(**text))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ({"head": "nine exercises"}, r'n.py:4: .* "nine exercises"; it has 2'),
        ({"head": "2 written questions"}, r'"2 written questions"; it has 1'),
        ({"heading": "*14 points*"}, "n.py:23: .* 14 points; n/double has 5"),
        ({"question": "(3 points)"}, "n.py:61: .* 3 points; n/why has 4"),
    ],
)
def test_what_is_stale_is_refused_with_its_line(text, message):
    with pytest.raises(CourseError, match=message):
        refuse_stale(notebook(**text))


def test_a_folded_picture_does_not_end_the_head():
    picture = Cell("code", "drawing()", "n.py:2", folded=True)
    with pytest.raises(CourseError, match='"nine exercises"'):
        refuse_stale([picture, *notebook(head="nine exercises")])


def test_each_exercise_without_a_title_is_refused_with_its_line():
    cells = [
        Cell("markdown", "# 9 · Tiny\n\n### Exercise 9.1 - A title", "09_tiny.py:1"),
        Cell("code", "", "09_tiny.py:5", "exercise", "tiny/double"),
        Cell("code", "", "09_tiny.py:7", "check", "tiny/double", 5),
        Cell("markdown", "Some text.", "09_tiny.py:9"),
        Cell("code", "", "09_tiny.py:12", "exercise", "tiny/half"),
        Cell("code", "", "09_tiny.py:14", "check", "tiny/half", 5),
    ]
    assert titles(cells) == {"tiny/double": "A title", "tiny/half": ""}
    refuse_untitled(cells[:3])
    with pytest.raises(CourseError) as refusal:
        refuse_untitled(cells)
    assert str(refusal.value) == (
        "09_tiny.py:12: no heading above exercise tiny/half; write "
        '"### Exercise 9.2 - Title" into the text before it'
    )


@pytest.mark.parametrize("kind", ["markdown", "code"])
def test_a_notebook_without_a_title_is_refused_with_the_line_to_write(kind):
    cells = [
        Cell(kind, "## Small\n\n" if kind == "markdown" else "# x", "09_two_words.py:1")
    ]
    with pytest.raises(CourseError) as refusal:
        refuse_untitled(cells)
    assert str(refusal.value) == (
        "09_two_words.py:1: the first cell has no title; begin it with "
        '"# 09 · Two words"'
    )
