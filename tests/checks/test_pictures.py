"""A picture of expected beside own, whatever the tensors' rank."""

import math
import re

import pytest
import torch

from autograder.checks.exercise import Case, Finding
from autograder.checks.pictures import BLUE, LIMIT, ORANGE, STRONG, picture
from tests.checks.contrast import contrast


def draw_picture(expected, actual, kind="auto") -> str:
    case = Case("a", "A", "", {}, {}, picture=kind)
    return picture(Finding("out", "values", "", expected, actual), case)


@pytest.mark.parametrize("shape", [(4,), (3, 5), (2, 3, 5), (2, 7, 3, 5)])
@pytest.mark.parametrize("kind", ["auto", "curves"])
def test_every_rank_from_one_on_has_a_picture(shape, kind):
    expected = torch.randn(shape, generator=torch.Generator().manual_seed(1))
    html = draw_picture(expected, expected + 1, kind)
    assert "<svg" in html and html.count("<svg") == html.count("</svg>")


@pytest.mark.parametrize(
    "expected", [torch.tensor(3.0), torch.ones(2), "text", torch.ones(0, 3)]
)
def test_what_a_line_tells_as_well_has_none(expected):
    assert draw_picture(expected, expected) == ""


def test_who_sees_whom_outlines_what_differs():
    expected = torch.ones(3, 4, dtype=torch.bool).tril()
    actual = expected.clone()
    actual[0, 1] = True
    assert draw_picture(expected, actual).count('stroke-width="3.0"') == 1


def test_the_matrix_with_the_largest_difference_is_drawn_and_says_which_it_is():
    expected = torch.zeros(2, 3, 4, 5)
    actual = expected.clone()
    actual[0, 0, 0, 0], actual[1, 2, 3, 4] = 0.5, 7.25
    html = draw_picture(expected, actual)
    assert "7.25" in html and "0.50" not in html
    assert ">your out [1, 2, :, :]<" in html
    actual[0, 1, 2, 3] = math.nan  # no number is worse than any
    assert ">your out [0, 1, :, :]<" in draw_picture(expected, actual)


def test_a_difference_has_a_scale_of_its_own_and_shows_only_what_is_wrong():
    expected = torch.tensor([[100.0, -50.0], [30.0, 20.0]])
    html = draw_picture(expected, expected + torch.tensor([[0.0, 0.03], [0.0, 1e-7]]))
    *_, difference, _ = html.split("<svg")[3].split("</svg>")
    assert difference.count(f'"rgba({BLUE},{STRONG:.2f})"') == 1
    assert ">0.03<" in difference and difference.count(">0<") == 3
    assert "full colour = 100, in the difference 0.03" in html


@pytest.mark.parametrize("shape", [(5,), (1, 5), (1, 1, 5)])
def test_one_row_of_weights_is_bars(shape):
    expected = torch.tensor([0.5, 0.2, 0.1, 0.1, 0.1]).reshape(shape)
    html = draw_picture(expected, expected.flip(-1))
    heights = [float(h) for h in re.findall(r"v(\d+\.\d)h", html)]
    halves = [100, 40, 20, 20, 20]
    assert heights == halves + halves[::-1]
    assert "out: blue, left = expected" in html and "<polyline" not in html


def test_a_small_difference_is_not_written_as_zero():
    expected = torch.tensor([[1.5, -1.303]])
    html = draw_picture(expected.expand(3, 2), (expected - 0.0002).expand(3, 2))
    assert html.count(">-2e-04<") == 6 and ">-1.30<" in html


def test_a_large_matrix_is_cut():
    expected = torch.zeros(100, 90)
    html = draw_picture(expected, expected + 1)
    cells = re.findall(r"M(\d+) (\d+)h", html)
    assert len(cells) == 3 * LIMIT * LIMIT and len(set(cells)) == LIMIT * LIMIT
    actual = expected.clone()
    actual[60, 3] = 1.0
    around = draw_picture(expected, actual)
    assert ">your out [37:61, 0:24]<" in around, "around what is wrong"


def test_ids_have_their_numbers_in_wide_rows_too():
    ids = torch.arange(60).reshape(5, 12)
    html = draw_picture(ids, ids.roll(1))
    assert ">59<" in html and "59.00" not in html


def test_every_drawing_has_a_name():
    html = draw_picture(torch.ones(3, 4), torch.zeros(3, 4))
    assert re.findall('aria-label="(.*?)"', html) == re.findall(">([^<]+)</fig", html)


def test_the_largest_picture_leaves_room_for_a_panel_of_sixty_kilobytes():
    numbers = torch.randn(2, 100, 100, generator=torch.Generator().manual_seed(1))
    assert len(draw_picture(*numbers)) < 54 * 1024
    narrow = numbers[..., :6]
    assert len(draw_picture(*narrow)) < 54 * 1024


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("kind", ["auto", "curves"])
def test_numbers_that_are_none_do_not_break_it(value, kind):
    expected = torch.ones(3, 4)
    for pair in ((expected, expected * value), (expected * value, expected)):
        html = draw_picture(*pair, kind)
        assert "<svg" in html and "nan," not in html


def test_names_are_text_not_markup():
    case = Case("a", "A", "", {}, {}, picture="curves")
    finding = Finding("<b>", "values", "", torch.ones(4), torch.zeros(4))
    assert "<b>" not in picture(finding, case)


# Page and text of JupyterLab's and VS Code's themes, and the tint of a panel.
THEMES = [(255, 33), (17, 222), (255, 59), (31, 204)]
TINT = (213, 94, 0, 0.1)


def over(colour, ground) -> list[float]:
    *parts, opacity = colour
    return [opacity * c + (1 - opacity) * g for c, g in zip(parts, ground, strict=True)]


@pytest.mark.parametrize("page", [page for page, _ in THEMES])
def test_lines_and_bars_are_seen_on_light_and_dark_pages(page):
    ground = over(TINT, [page] * 3)
    for colour in (BLUE, ORANGE):
        assert contrast(map(float, colour.split(",")), ground) >= 3


@pytest.mark.parametrize(("page", "ink"), THEMES)
def test_numbers_can_be_read_on_every_cell_in_any_theme(page, ink):
    expected = torch.tensor([[0.0, 1.0], [-1.0, 0.5], [2.0, 3.0]])
    actual = torch.tensor([[math.nan, 5.0], [-9.0, 0.0], [2.0, 3.0]])
    html = draw_picture(expected, actual)
    fills = {
        tuple(map(float, f.split(","))) for f in re.findall(r'"rgba\((.+?)\)"', html)
    }
    for fill in fills:
        assert contrast(over(fill, over(TINT, [page] * 3)), [ink] * 3) >= 4.5
