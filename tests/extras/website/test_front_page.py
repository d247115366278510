"""The first page has the pictures that a course offers, and room for none other."""

from __future__ import annotations

import pytest

from autograder.course import settings, units
from autograder.course.errors import CourseError
from autograder.extras.website import front_page

CAPTIONS = ("What you will have built", "What a check says")


def test_both_pictures_stand_beside_each_other_as_html_without_gaps():
    text = front_page.text(units(), ["ta"])
    pictures = text[text.index('<div class="pictures">') : text.index("## Units")]
    assert all(caption in pictures for caption in CAPTIONS)
    assert "\n\n" not in pictures.rstrip(), "an empty line ends HTML within Markdown"


def test_a_course_without_pictures_shows_none(tmp_path, monkeypatch):
    monkeypatch.setattr(front_page, "ROOT", tmp_path)
    about = {key: value for key, value in settings().items() if key != "drawing"}
    monkeypatch.setattr(front_page, "settings", lambda: about)
    text = front_page.text(units(), ["ta"])
    assert "<figure" not in text and not any(caption in text for caption in CAPTIONS)


def test_a_drawing_that_does_not_exist_is_an_error(monkeypatch):
    about = {**settings(), "drawing": "no_such"}
    monkeypatch.setattr(front_page, "settings", lambda: about)
    with pytest.raises(CourseError, match=r"no_such\.svg"):
        front_page.text(units(), ["ta"])
