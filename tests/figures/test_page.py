"""A figure's HTML: live where a page allows it, and pictures where it does not."""

import base64
import re

import pytest

from autograder.figures import page
from autograder.figures.page import Drawn
from autograder.grading.rendering.sanitise import clean_html


def draw_word(word: str) -> Drawn:
    svg = f'<svg role="img" aria-label="{word}"><text>{word}</text></svg>'
    return Drawn(svg, f'"{word}" <b>')


SAID = {"step 0": "All alike.", "step 1": "One leads & wins."}


FRAMES = [draw_word("even"), draw_word("hard")]


@pytest.fixture
def steps() -> str:
    return page.steps(FRAMES, SAID, "2.4", "Rising scores.")


def test_a_caption_has_a_number_and_no_markup_of_its_own_or_is_not_there():
    html = page.figure(draw_word("x"), "2.3", "a < b")
    assert "<figcaption><b>Figure 2.3.</b> a &lt; b</figcaption>" in html
    assert "figcaption>" not in page.figure(draw_word("x"))


def test_each_step_is_a_radio_button_of_one_group_that_says_its_sentence(steps):
    buttons = re.findall(r"<input[^>]*>", steps)
    assert len(buttons) == 2 and len(set(re.findall(r'name="([^"]*)"', steps))) == 1
    assert 'aria-label="step 1: One leads &amp; wins."' in buttons[1]
    assert [" checked" in button for button in buttons] == [True, False]
    assert all('data-lm-suppress-shortcuts="true"' in button for button in buttons)


def test_words_that_all_labels_begin_with_are_shown_once():
    html = page.steps(FRAMES, {"after step 0": "a", "after step 100": "b"})
    bar = re.search(r'<div class="bar">(.*?)</div>', html)[1]
    assert re.findall(r">([^<]+)<", bar) == ["after step", "0", "100"]
    assert '<div class="bar"><label' in page.steps(FRAMES, {"one": "a", "two": "b"})


def test_it_opens_where_it_is_told_to():
    html = page.steps(FRAMES, SAID, opened=-1)
    buttons = re.findall(r"<input[^>]*>", html)
    assert [" checked" in button for button in buttons] == [False, True]


def test_the_mouse_shows_a_drawing_from_an_area_of_any_other():
    areas = [(0, 0, 0.5, 1), (0.5, 0, 0.5, 1)]
    html = page.steps(FRAMES, SAID, areas=areas)
    assert html.count('class="area-2"') == 2 and "left:50.00%" in html
    assert re.search(r":has\(\.area-2:hover\) \.frames \.frame:nth-of-type\(2\)", html)


def test_on_a_phone_a_narrow_drawing_shrinks_and_a_wide_one_scrolls():
    narrow, wide = (
        page.figure(Drawn(f'<svg role="img" width="{points}pt"></svg>', "x"))
        for points in (375, 375.01)
    )
    assert "overflow-x" in wide and "overflow-x" not in narrow


def test_the_buttons_do_not_scroll_with_the_drawings(steps):
    assert ".frames{overflow-x:auto}" in steps
    assert steps.index('<div class="bar">') < steps.index('<div class="frames">')


def test_its_rules_reach_nothing_outside_of_the_figure(steps):
    name = re.search(r'<figure id="([\w-]+)"', steps)[1]
    rules = re.search(r"<style>(.*?)</style>", steps, re.DOTALL)[1]
    rules = rules.removesuffix(page.PAGE)  # but what is folded, and lines of text
    rules = re.sub(rf"@keyframes {name}-fade{{(?:\w+{{.*?}})+}}", "", rules)
    selectors = re.findall(r"(?:^|[}{,])\s*([#.\w][^{},]*)(?={|,)", rules)
    assert selectors
    assert all(s.startswith(f"#{name}") for s in selectors if not s.startswith("@"))


def test_there_is_no_script(steps):
    assert not re.search(r"<script|javascript:|\bon\w+=", steps)


def test_a_sanitiser_leaves_all_steps_as_pictures_with_their_words(steps):
    cleaned = clean_html(steps)
    assert not re.search("<(style|input|svg|label)", cleaned)
    assert cleaned.count("<img") == 2 and 'alt="&quot;even&quot; &lt;b&gt;"' in cleaned
    assert cleaned.count("All alike.") == 2  # in what is hidden, too
    assert 'hidden="hidden"' in cleaned
    assert "<b>Figure 2.4.</b> Rising scores." in cleaned


def test_a_picture_brings_paper_and_ink_of_its_own():
    html = page.figure(draw_word("x"))
    data = re.search(r"base64,([^\"]+)", html)[1]
    assert "prefers-color-scheme:dark" in base64.b64decode(data).decode()


def test_equal_steps_are_equal_bytes_and_others_have_rules_of_their_own(steps):
    repeated = page.steps(FRAMES, SAID, "2.4", "Rising scores.")
    other_frames = [FRAMES[0], draw_word("soft")]
    different = page.steps(other_frames, SAID, "2.4", "Rising scores.")
    name = re.compile(r'<figure id="([\w-]+)"')
    assert repeated == steps and name.search(different)[1] != name.search(steps)[1]
