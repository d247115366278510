"""Figures are shown once, with number, caption and words; grading shows the words."""

import matplotlib.pyplot as plt
import pytest

from autograder import drawing, show, show_steps
from autograder.figures import page


@pytest.fixture
def displayed(monkeypatch):
    bundles: list[dict] = []
    monkeypatch.setattr(
        "IPython.display.display", lambda data, raw: bundles.append(data)
    )
    return bundles


@pytest.fixture
def grading(monkeypatch):
    monkeypatch.setenv("AUTOGRADER_LEAVES_OUT_DEMONSTRATIONS", "1")


def test_a_figure_is_closed_and_has_words_for_pages_without_html(displayed):
    show(plt.figure(), "Two curves cross.", "2.3", "They cross.")
    assert plt.get_fignums() == []
    assert displayed[0]["text/plain"] == "Figure 2.3. They cross. Two curves cross."
    assert "<b>Figure 2.3.</b> They cross." in displayed[0]["text/html"]


def test_steps_are_closed_and_told(displayed):
    frames = [plt.figure(figsize=(2, 1)) for _ in range(3)]
    captions = {"1": "a", "2": "b", "3": "c"}
    show_steps(frames, captions, ["A.", "B.", "C."], "1.2", "Three.")
    assert plt.get_fignums() == []
    assert displayed[0]["text/plain"] == "Figure 1.2. Three. A. B. C."
    assert displayed[0]["text/html"].count("<svg") == 3


def test_frames_of_one_size_have_one_size_so_that_nothing_jumps(displayed):
    frames = [plt.figure(figsize=(3, 1), layout="none") for _ in range(2)]
    frames[1].add_axes((0, 0, 0.5, 0.5)).plot([1, 2])
    show_steps(frames, {"1": "a", "2": "b"}, ["A.", "B."])
    assert displayed[0]["text/html"].count('width="216pt" height="72pt"') == 2


def test_a_drawing_is_shown_by_name_with_its_own_words(displayed):
    drawing("self_attention", "2.8", "Three layers.")
    assert "One sequence x, (B, L, d_model)" in displayed[0]["text/plain"]
    assert "<svg" in displayed[0]["text/html"]


def test_grading_draws_nothing(grading, displayed, monkeypatch, capsys):
    monkeypatch.setattr(page, "figure", None)
    show(plt.figure(), "Two curves cross.")
    show_steps([plt.figure()], {"1": "a"}, ["A."])
    drawing("self_attention", "2.8", "Three layers.")
    assert displayed == [] and plt.get_fignums() == []
    message = "(figure left out while grading: Two curves cross.)"
    assert message in capsys.readouterr().out
