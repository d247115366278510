"""Steps move by mouse and keyboard, without a script, and lie side by side in print."""

import pytest
from nbconvert import HTMLExporter
from nbformat.v4 import new_code_cell, new_notebook, new_output

from autograder.authoring.notebook import FOLDED, TITLE
from autograder.figures import page as html
from autograder.figures.page import Drawn
from autograder.grading.rendering.sanitise import clean_html

pytestmark = pytest.mark.slow
SAID = {"a": "All alike.", "b": "One leads.", "c": "One has it all."}


def draw_word(word: str) -> Drawn:
    svg = (
        f'<svg role="img" aria-label="{word}" width="80" height="20" '
        f'xmlns="http://www.w3.org/2000/svg"><text y="15">{word}</text></svg>'
    )
    return Drawn(svg, word)


STEPS = html.steps(
    [draw_word("even"), draw_word("soft"), draw_word("hard")],
    SAID,
    "2.4",
    "Rise.",
)


@pytest.fixture(autouse=True)
def without_fading(page):
    page.emulate_media(reduced_motion="reduce")


@pytest.fixture
def steps(page):
    page.set_content(f"<body>{STEPS}</body>")
    return page


def visible_frames(page) -> list[bool]:
    return [frame.is_visible() for frame in page.locator(".frame").all()]


def test_one_step_is_seen_and_a_click_shows_another(steps):
    assert visible_frames(steps) == [True, False, False]
    steps.locator("label").nth(2).click()
    assert visible_frames(steps) == [False, False, True]
    assert not any(image.is_visible() for image in steps.locator("img").all())


def test_arrow_keys_move_through_the_steps(steps):
    steps.keyboard.press("Tab")
    steps.keyboard.press("ArrowRight")
    assert visible_frames(steps) == [False, True, False]
    steps.keyboard.press("ArrowLeft")
    assert visible_frames(steps) == [True, False, False]


def test_a_screen_reader_is_told_the_steps_and_the_drawing_that_is_shown(steps):
    snapshot = steps.locator("body").aria_snapshot()
    assert 'radio "a: All alike." [checked]' in snapshot
    assert 'img "even"' in snapshot and 'img "soft"' not in snapshot
    assert "Figure 2.4. Rise." in snapshot


def test_all_steps_are_printed_and_no_button_is(steps):
    steps.emulate_media(media="print")
    assert visible_frames(steps) == [True, True, True]
    assert not steps.locator(".bar").is_visible()


def test_a_page_without_style_sheets_shows_each_step_once_as_a_picture(page):
    page.set_content(f"<body>{clean_html(STEPS)}</body>")
    images = page.locator("img").all()
    assert [image.is_visible() for image in images] == [True, True, True]
    assert page.locator("body").inner_text().count("One leads.") == 1


def test_two_figures_on_a_page_move_on_their_own(page):
    second_figure = html.steps([draw_word("a"), draw_word("b"), draw_word("c")], SAID)
    page.set_content(f"<body>{STEPS}{second_figure}</body>")
    page.locator("label").nth(1).click()
    assert visible_frames(page) == [False, True, False, True, False, False]


def test_nbconvert_shows_the_title_of_a_folded_cell_alone(page):
    code = "\n".join(f"x{n} = {n}" for n in range(30))
    figure = new_output("display_data", {"text/html": STEPS})
    cells = [
        new_code_cell(f"{TITLE}Draw\n{code}", metadata=FOLDED, outputs=[figure]),
        new_code_cell(code),
    ]
    exported, _ = HTMLExporter().from_notebook_node(new_notebook(cells=cells))
    page.set_content(exported)
    folded, read = page.locator(".jp-InputArea-editor").all()
    assert folded.bounding_box()["height"] < 0.1 * read.bounding_box()["height"]
    assert folded.inner_text().strip().startswith(f"{TITLE}Draw")
