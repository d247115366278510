"""Foreign text is drawn harmlessly and in time, or shown as it was written."""

import re
import time
from html import unescape

import pytest

from autograder.course import notebooks, units
from autograder.grading.rendering import Page
from autograder.grading.rendering.equations import FONT, equation
from autograder.grading.rendering.page import Allowance
from autograder.grading.rendering.process import Drawing, Renderer
from autograder.grading.rendering.sanitise import clean_html
from autograder.grading.rendering.texts import markdown, traceback
from tests.grading.hostile import HOSTILE, dangers

# --- equations ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tex", "holds"),
    [
        (r"$\sqrt{d_k}$", "<msqrt>"),
        (r"$$\frac{QK^\top}{\sqrt{d_k}}$$", "<mfrac>"),
        ("\\begin{align}a &= b\\\\c &= d\\end{align}", "<mtable"),
        (r"$\begin{aligned} a &= b \\ c &= d \end{aligned}$", "<mtable"),
        (r"$\begin{cases} 1 & x \\[2ex] 0 & y \end{cases}$", 'left"><mn>0</mn>'),
        (r"$\text{add \& norm}$", "&amp;&nbsp;norm"),
        (r"$a \log p_n$", '<mi>log</mi><mspace width="0.167em"></mspace><msub>'),
        (r"$\operatorname{softmax}(x)$", "<mi>softmax</mi><mo"),
        (r"$= -x$", '<mo form="prefix">−</mo>'),
        (r"$a < b$", "<mo>&lt;</mo>"),
    ],
)
def test_equations_become_mathml_and_need_no_script(tex, holds):
    html = markdown(f"See {tex} here." if tex[0] == "$" else tex)
    assert "<math" in html and holds in html and "$" not in html


@pytest.mark.parametrize("tex", [r"\frac{", "{" * 1500, r"\begin{x", "x" * 9000])
def test_an_equation_that_cannot_be_read_stays_as_written(tex):
    assert equation(tex).startswith("<code>$")


def test_the_font_for_equations_has_all_their_characters():
    pytest.importorskip("brotli", reason="reads a compressed font")
    from fontTools.ttLib import TTFont

    characters = TTFont(FONT).getBestCmap()
    markdown_texts = [
        cell.source
        for unit in units()
        for cell in notebooks.read(unit.release).cells
        if cell.cell_type == "markdown"
    ]
    equations = re.findall(r"<math.*?</math>", markdown("\n\n".join(markdown_texts)))
    letters = unescape(re.sub("<[^>]*>", "", "".join(equations)))
    assert len(equations) > 200
    assert not [c for c in letters if ord(c) not in characters and not c.isspace()]


def test_code_and_tables_are_still_markdown():
    html = markdown("| a | b |\n|---|---|\n| 1 | `x < y` |\n\n```python\nx\n```")
    assert "<table>" in html and "<code>x &lt; y</code>" in html and "<pre>" in html


# --- nobody's scripts -----------------------------------------------------------------


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_html_and_markdown_come_out_harmless(text):
    for html in (clean_html(text), markdown(text)):
        assert dangers(html) == []
        assert "position" not in html and "http-equiv" not in html


# --- nothing leaves its frame ---------------------------------------------------------


@pytest.mark.parametrize(
    "style",
    [
        "margin-top:-900px", "margin: 0 0 0 -5em", "height:99999px", "width:1e9px",
        "height:100vh", "min-height:9999em", "padding:50000px", "margin:-.5em",
        "line-height:5000", "width:calc(100px - 5000px)", "font-size:5000px",
        "position:absolute", "transform:scale(9)", "inset:0", "z-index:9", "float:left",
        "border:9000px solid white", "margin:-1\\70x",
    ],
)  # fmt: skip
def test_no_style_reaches_beyond_its_place(style):
    assert "style" not in clean_html(f'<div style="{style}">100 of 100 points</div>')


def test_ordinary_styles_are_kept():
    table = '<td style="color:#0072b2;text-align:right;padding:0.2em 12px">1</td>'
    html = clean_html(f"<table><tbody><tr>{table}</tr></tbody></table>")
    for declaration in ("color:#0072b2", "text-align:right", "padding:0.2em 12px"):
        assert declaration in html
    assert "rgb(255, 0, 0)" in clean_html('<b style="color:rgb(255, 0, 0)">x</b>')


def test_space_in_equations_cannot_be_negative_or_vast():
    html = clean_html('<math><mspace width="-500px" height="9999em"></mspace></math>')
    assert "500" not in html and "9999" not in html


# --- in time, or not at all -----------------------------------------------------------


@pytest.fixture(scope="module")
def drawer():
    drawer = Renderer()
    yield drawer
    drawer.close()


def test_drawing_in_its_process_gives_what_drawing_here_gives(drawer):
    page = Page(draw=drawer.draw)
    text = "See $x^2$ and `code`.\n\n| a |\n|---|\n| 1 |"
    assert page.render("markdown", text) == markdown(text)
    assert page.render("html", "<b onclick=x>hi</b>") == "<b>hi</b>"
    text = page.trim_traceback("Cell In[2], line 1\n  x\n\nE: m", ["2"], "E: m")
    assert text == "Cell In[2], line 1\n  x\nE: m"
    assert "<span" in page.render("code", "def f(): pass")
    assert "ansi-red" in page.render("terminal", "\x1b[31mred\x1b[0m")


SLOW = {
    "an 8 kB cell of blanks and newlines": ("code", "\n " * 4_000),
    "a megabyte of escapes": ("terminal", "\x1b[" * 500_000),
    "forty thousand nested elements": ("html", "<div>" * 40_000),
    "environments without an end": ("markdown", "\\begin{a}" * 20_000),
    "an error of newlines": ("traceback", "\n" * 50_000),
}


@pytest.mark.parametrize("name", SLOW)
def test_what_held_a_class_up_takes_seconds_at_most(drawer, name):
    kind, text = SLOW[name]
    spent = []

    def measure_drawing(*request) -> Drawing:
        spent.append(drawer.draw(*request))
        return spent[-1]

    page = Page(Allowance(cell_seconds=0.4), measure_drawing)
    is_trimmed = kind == "traceback"
    assert (
        page.trim_traceback(text, ["1"], "E") if is_trimmed else page.render(kind, text)
    )
    assert sum(drawing.seconds for drawing in spent) <= 0.8


def test_what_takes_too_long_is_shown_as_written_and_others_are_drawn_still(drawer):
    page = Page(Allowance(cell_seconds=0.2, cut=50), drawer.draw)
    html = page.render("terminal", "\x1b[<b>" + "\x1b[" * 400_000)
    assert "plain text" in html and "only its first 50 characters" in html
    assert "&lt;b&gt;" in html and len(html) < 1_000
    page.next_cell()
    assert page.render("markdown", "*on*") == "<p><em>on</em></p>\n"


def test_seconds_of_a_page_are_counted_over_its_cells():
    page = Page(Allowance(1.0, 3.0), lambda *_: Drawing("<b></b>", 0.8))
    drawings = []
    for _ in range(6):
        page.next_cell()
        drawings.append("plain text" not in page.render("html", "x"))
    assert drawings == [True, True, True, True, False, False]


def test_characters_are_counted_before_they_are_drawn():
    requests, allowance = [], Allowance(cell_characters=100, page_characters=150)
    page = Page(
        allowance, lambda *request: requests.append(request) or Drawing("ok", 0)
    )
    assert page.render("html", "x" * 90) == "ok"
    assert "plain text" in page.render("html", "x" * 90)
    page.next_cell()
    assert "plain text" in page.render("html", "x" * 90)
    assert len(requests) == 1


def test_a_drawing_that_is_vast_is_not_kept():
    page = Page(Allowance(cell_characters=100), lambda *_: Drawing("x" * 9_999, 0.0))
    assert "plain text" in page.render("html", "x")


def test_a_process_that_dies_costs_its_drawing_only(drawer):
    assert drawer.draw("html", {"nonsense": 1}, 1.0).html is None, "a parser fails"
    assert drawer.draw("html", {"text": "x"}, 1.0).html == "x"
    drawer._process.kill()
    assert drawer.draw("html", {"text": "x"}, 1.0).html is None
    assert drawer.draw("html", {"text": "x"}, 1.0).html == "x"


def test_blank_lines_of_an_error_are_read_once():
    started = time.process_time()
    assert traceback("\n" * 1_000_000, ["1"], "E: m") == "E: m"
    assert time.process_time() - started < 1
