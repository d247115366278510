"""The look: no frame, the page's ink, colours that everybody can tell apart."""

import itertools

import matplotlib

matplotlib.use("agg")
import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_rgb

from autograder.figures import style
from autograder.figures.svg import as_svg

# Linear RGB as somebody without one kind of cone sees it: Viénot, Brettel and Mollon
# 1999, "Digital video colourmaps for checking the legibility of displays".
SEEN = {
    "all cones": np.eye(3),
    "protanopia": np.array(
        [[0.11238, 0.88762, 0], [0.11238, 0.88762, 0], [0.00401, -0.00401, 1]]
    ),
    "deuteranopia": np.array(
        [[0.29275, 0.70725, 0], [0.29275, 0.70725, 0], [-0.02234, 0.02234, 1]]
    ),
}


def linear(colour: str) -> np.ndarray:
    channels = np.array(to_rgb(colour))
    return np.where(
        channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4
    )


def lab(rgb: np.ndarray) -> np.ndarray:
    """CIE L*a*b* (D65) of linear RGB."""
    matrix = [
        [0.4124, 0.3576, 0.1805],
        [0.2126, 0.7152, 0.0722],
        [0.0193, 0.1192, 0.9505],
    ]
    xyz = np.array(matrix) @ np.clip(rgb, 0, 1) / np.array([0.9505, 1, 1.089])
    x, y, z = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


def contrast(first: str, second: str) -> float:
    """Of WCAG 2.2."""
    light = sorted(
        float(np.array([0.2126, 0.7152, 0.0722]) @ linear(c)) for c in (first, second)
    )
    return (light[1] + 0.05) / (light[0] + 0.05)


@pytest.mark.parametrize("eyes", SEEN)
@pytest.mark.parametrize(("count", "least"), [(3, 30), (4, 15)])
def test_colours_are_told_apart_by_all_eyes(eyes, count, least):
    points = [lab(SEEN[eyes] @ linear(colour)) for colour in style.PALETTE[:count]]
    gaps = [np.linalg.norm(a - b) for a, b in itertools.combinations(points, 2)]
    assert min(gaps) > least  # about 2 is just noticeable side by side


@pytest.mark.parametrize("paper", ["#ffffff", "#111111"])
def test_lines_are_seen_on_light_and_dark_pages(paper):
    assert all(contrast(colour, paper) > 3 for colour in style.PALETTE[:4])


@pytest.mark.parametrize(
    ("paper", "ink"), [("#ffffff", "#000000"), ("#111111", "#e0e0e0")]
)
@pytest.mark.parametrize("colour", [style.BLUE, style.ORANGE, style.GREEN])
def test_values_are_read_on_the_fullest_cell(paper, ink, colour):
    *rgb, alpha = style.sequential(colour)(1.0)
    cell = [
        alpha * c + (1 - alpha) * p for c, p in zip(rgb, to_rgb(paper), strict=True)
    ]
    assert contrast(matplotlib.colors.to_hex(cell), ink) > 4.5  # WCAG 2.2, level AA


def test_a_figure_has_no_frame_and_the_pages_ink():
    figure, axes = style.subplots()
    axes.plot([1, 2], [1, 3])
    axes.text(0.5, 0.5, "0.98765 and 3.14159", ha="center")
    svg = as_svg(figure, "A line rises.")
    plt.close(figure)
    assert ">0.98765 and 3.14159<" in svg, "coordinates alone are shortened"
    assert not any(axes.spines[side].get_visible() for side in ("top", "right", "left"))
    assert "currentColor" in svg and "010203" not in svg and "#000000" not in svg
    assert "font-family: '" not in svg  # type of the page


def test_lines_are_named_where_they_end_and_names_keep_apart():
    figure, axes = style.subplots()
    ends = {"low": 1.0, "lower": 0.99, "high": 9.0, "lowest": 0.98, "beyond": 99.0}
    for name, end in ends.items():
        axes.plot([3, 2, 1], [5, 5, end], label=name)
    axes.axhline(4)  # without a name
    axes.invert_xaxis()
    axes.set_ylim(0, 10)
    style.name_lines(axes)
    figure.canvas.draw()
    boxes = {text.get_text(): text.get_window_extent() for text in axes.texts}
    upwards = sorted(boxes, key=lambda name: boxes[name].y0)
    assert upwards == ["lowest", "lower", "low", "high", "beyond"]
    for below, above in itertools.pairwise(upwards):
        assert boxes[below].y1 <= boxes[above].y0 + 1
    assert min(box.x0 for box in boxes.values()) > axes.get_window_extent().x1
    top = axes.transData.transform((1, 9.0))[1]  # where the line "high" ends
    assert boxes["high"].y0 < top < boxes["high"].y1
    plt.close(figure)


def test_names_know_limits_that_matplotlib_has_not_set_yet():
    figure, axes = style.subplots()
    axes.plot([0, 1], [500, 900], label="upper")
    axes.plot([0, 1], [500, 100], label="lower")
    style.name_lines(axes)
    low, high = (text.get_position()[1] for text in axes.texts)
    assert low < 0.1 and high > 0.9
    plt.close(figure)
