"""Bars have their values beside them, and no frame."""

import matplotlib.pyplot as plt

from autograder.figures import style
from autograder.figures.bars import bars


def test_each_bar_has_its_name_and_its_value():
    figure, axes = style.subplots()
    bars(axes, {"short": 0.25, "long": 2.0}, ".2f", style.ORANGE)
    assert [label.get_text() for label in axes.get_yticklabels()] == ["short", "long"]
    assert [text.get_text() for text in axes.texts] == ["0.25", "2.00"]
    assert not any(spine.get_visible() for spine in axes.spines.values())
    assert axes.get_xlim() == (0.0, 2.3)
    plt.close(figure)


def test_a_value_below_zero_has_a_minus_sign_and_zero_has_none():
    figure, axes = style.subplots()
    bars(axes, {"below": -0.25, "almost zero": -0.001}, ".2f", most=1)
    assert [text.get_text() for text in axes.texts] == ["−0.25", "0"]
    plt.close(figure)


def test_two_rows_of_bars_can_have_one_scale():
    figure, (left_axes, right) = style.subplots(1, 2)
    for axes, value in ((left_axes, 1), (right, 3)):
        bars(axes, {"a": value}, "d", most=4)
    assert left_axes.get_xlim() == right.get_xlim() == (0.0, 4.0)
    plt.close(figure)
