"""Drawings are in what students get, and no picture that some place cannot show."""

import re

import nbformat
import pytest

from autograder.authoring import figures
from autograder.course import ROOT, units
from autograder.course.errors import CourseError
from autograder.grading.rendering import Page

DRAWN = sorted((ROOT / "assets" / "figures").glob("*.png"))
LINK = "![Two boxes.](../assets/figures/{})"


def test_a_drawing_is_embedded_and_found_again():
    text = f"Before.\n\n{LINK.format(DRAWN[0].name)}\n\nAfter."
    embedded = figures.embed(text, ROOT, "here")
    assert "![Two boxes.](data:image/png;base64," in embedded
    assert figures.name(embedded, ROOT) == text


def test_a_picture_that_is_no_drawing_of_ours_is_left_alone():
    text = "![A badge.](https://example.org/a.svg) ![B.](data:image/png;base64,QUJD)"
    assert figures.embed(text, ROOT, "here") == text
    assert figures.name(text, ROOT) == text


@pytest.mark.parametrize(
    "text", [LINK.format("nowhere.png"), "![ ](../assets/figures/bottleneck.png)"]
)
def test_a_drawing_without_file_or_alt_text_stops_the_build(text):
    with pytest.raises(CourseError, match=r"07_new\.py:5: assets/figures/"):
        figures.embed(text, ROOT, "07_new.py:5")


@pytest.mark.parametrize("path", DRAWN, ids=lambda path: path.stem)
def test_a_drawing_is_small_and_used(path):
    assert path.stat().st_size < 40_000
    texts = [unit.text.read_text(encoding="utf-8") for unit in units()]
    assert any(f"(../assets/figures/{path.name})" in text for text in texts)


@pytest.mark.parametrize("unit", units(), ids=lambda unit: unit.label)
def test_no_link_to_a_file_is_released(unit):
    notebook = nbformat.read(unit.release, as_version=4)
    prose = "\n".join(c.source for c in notebook.cells if c.cell_type == "markdown")
    assert not re.search(r"!\[[^\]]*\]\((?!data:image/png;base64,|https://)", prose)


def test_feedback_shows_a_drawing():
    page = Page().markdown(figures.embed(LINK.format(DRAWN[0].name), ROOT, "here"))
    assert 'src="data:image/png;base64,' in page and 'alt="Two boxes."' in page
