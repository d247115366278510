"""A figure reads the same on light and dark pages, and does nothing to the page."""

from __future__ import annotations

import re

import matplotlib

matplotlib.use("agg")
import matplotlib.pyplot as plt
import pytest
import torch

from autograder.figures import style
from autograder.figures.svg import as_svg


@pytest.fixture
def axes():
    with matplotlib.rc_context(matplotlib.rcParamsDefault):  # a student's own figure
        figure, empty_axes = plt.subplots()
        yield empty_axes
        plt.close(figure)


def test_what_stands_around_the_data_is_the_pages_and_the_page_is_left_alone(axes):
    axes.plot([1, 2], [1, 3], color="#0072B2", label="blue")
    axes.set(title="A title", xlabel="steps")
    axes.legend()
    svg = as_svg(axes.figure, 'An "empty" <b>picture</b>.')
    assert "currentColor" in svg and "#0072b2" in svg
    assert "#000000" not in svg and "#010203" not in svg
    assert "fill: #ffffff" not in svg.replace("fill: #ffffff; opacity: 0", "")
    assert svg.startswith('<svg role="img" aria-label="An &quot;empty&quot; &lt;b&gt;')
    assert not any(f"<{tag}" in svg for tag in ("style", "script", "metadata", "?xml"))
    assert svg == as_svg(axes.figure, 'An "empty" <b>picture</b>.'), "each time"


def test_black_among_curves_is_the_pages_colour(axes):
    axes.plot([1, 2], [1, 3], color="black")
    around = as_svg(axes.figure, "Curves.").count("currentColor")
    axes.text(1, 1, "a note", color="black")
    assert as_svg(axes.figure, "Curves.").count("currentColor") > around


def test_black_on_a_heat_map_stays(axes):
    axes.imshow(torch.eye(3).numpy())
    around = as_svg(axes.figure, "A map.").count("currentColor")
    axes.text(1, 1, "1", color="black")
    assert as_svg(axes.figure, "A map.").count("currentColor") == around


def test_black_beside_a_bar_is_the_pages_colour_and_black_on_it_stays(axes):
    bars = axes.bar([1, 2], [3, 4], color="#E69F00")
    around = as_svg(axes.figure, "Bars.").count("currentColor")
    axes.bar_label(bars, ["on", "it"], label_type="center")
    assert as_svg(axes.figure, "Bars.").count("currentColor") == around
    axes.bar_label(bars, ["above", "it"])
    assert as_svg(axes.figure, "Bars.").count("currentColor") > around


def test_black_in_an_empty_circle_is_the_pages_colour(axes):
    axes.add_patch(plt.Circle((0, 0), 1, fill=False, color="0.6"))
    around = as_svg(axes.figure, "A circle.").count("currentColor")
    axes.plot(0, 0, "ko")
    assert as_svg(axes.figure, "A circle.").count("currentColor") > around


def test_the_colours_of_a_legend_have_no_frame(axes):
    axes.bar([0], [1], color=style.BLUE, label="eight")
    axes.legend()
    blue = re.findall(rf"fill: {style.BLUE};?[^\"]*", as_svg(axes.figure, "."), re.I)
    assert len(blue) == 2 and not any("stroke: currentColor" in part for part in blue)


def test_words_in_a_colour_of_the_style_have_more_contrast_than_its_lines():
    figure, axes = style.subplots()
    axes.plot([1, 2], [1, 3], color=style.ORANGE)
    axes.text(1, 1, "orange", color=style.ORANGE)
    axes.text(1, 2, "white", color="white")
    svg = as_svg(figure, "A line.")
    plt.close(figure)
    (words,) = re.findall("<text[^>]*color-mix[^>]*>[^<]*", svg)
    assert "color-mix(in srgb, #d55e00 78%, currentColor)" in words
    assert words.endswith(">orange") and "stroke: #d55e00" in svg


def test_exponents_are_no_paler_than_other_ticks():
    figure, axes = style.subplots()
    axes.loglog([1, 1000], [1, 1000])
    svg = as_svg(figure, "A line.")
    plt.close(figure)
    parts = re.findall("<tspan[^>]*>", svg)
    assert parts and not any("opacity" in part for part in parts)
    assert "opacity: 0.65" in svg
