"""The course's own drawings: in the page's colours, with words, small, and used."""

import importlib
import re

import nbformat
import pytest

from autograder.course import ROOT, units
from autograder.figures.svg import label

DRAWN = sorted((ROOT / "transformer_course" / "drawings").glob("*.svg"))
TEXTS = [unit.text.read_text(encoding="utf-8") for unit in units()]
SHOWN = [re.findall(r'drawing\(\s*"(\w+)"', text) for text in TEXTS]
by_name = pytest.mark.parametrize("path", DRAWN, ids=lambda path: path.stem)


@by_name
def test_a_drawing_follows_the_page_and_brings_no_colour_of_its_own_for_text(path):
    svg = path.read_text(encoding="utf-8")
    assert "currentColor" in svg and "010203" not in svg
    assert not re.search(r"<text[^>]*fill: #(?:000|fff)", svg)
    assert not re.search(r"<(?:style|script|image|metadata)", svg)


@by_name
def test_a_drawing_is_told_in_words_and_is_small(path):
    assert len(label(path.read_text(encoding="utf-8")).split()) > 20
    assert path.stat().st_size < 60_000


@pytest.mark.whole_course
@by_name
def test_a_drawing_is_used_once(path):
    uses = sum(names.count(path.stem) for names in SHOWN)
    assert uses == 1 or (path.stem in ("machine_whole", "residual_stream") and uses)


@pytest.mark.whole_course
def test_what_a_notebook_shows_is_there():
    names = {name for names in SHOWN for name in names}
    assert names == {path.stem for path in DRAWN}


def test_no_text_cell_links_to_a_file():
    for unit in units():
        cells = nbformat.read(unit.release, as_version=4).cells
        prose = "\n".join(c.source for c in cells if c.cell_type == "markdown")
        assert not re.search(r"!\[[^\]]*\]\((?!data:|https://)", prose)


class Recorder:
    """A sheet that notes its boxes, and from where to where its arrows lead."""

    def __init__(self, *_):
        self.boxes, self.arrows = {}, []

    def box(self, x, y, width, height, words, *_):
        self.boxes[words] = (x - 0.5, x + width + 0.5, y - 0.5, y + height + 0.5)

    def text(self, *_):
        pass

    def arrow(self, *points):
        self.arrows.append((self._at(points[0]), self._at(points[-1])))

    def _at(self, point):
        inside = (
            words
            for words, (left_edge, right, top, bottom) in self.boxes.items()
            if left_edge <= point[0] <= right and top <= point[1] <= bottom
        )
        return next(inside, "")


def test_a_training_step_goes_from_the_loss_to_gradients_to_a_new_model(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "assets" / "figures"))
    training = importlib.import_module("training")
    monkeypatch.setattr(training, "Sheet", Recorder)
    sheet, _ = training.training_step()
    # Some arrows are drawn before the box that they lead to: all boxes are known now.
    second_recorder = Recorder()
    second_recorder.boxes = sheet.boxes
    monkeypatch.setattr(training, "Sheet", lambda *_: second_recorder)
    training.training_step()
    assert (second_recorder.arrows[-4:]) == [
        ("loss", "gradients"),
        ("gradients", "clip"),
        ("clip", "step"),
        ("step", "model"),
    ]
    entered = {end for _, end in second_recorder.arrows}
    assert set(second_recorder.boxes) - entered == {"source", "target"}
